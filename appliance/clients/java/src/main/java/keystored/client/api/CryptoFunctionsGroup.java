// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class CryptoFunctionsGroup {
  private static final Operation RANDOM_BYTES =
      new Operation("POST", "/v1/state/keystore/crypto-functions/random-bytes", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  CryptoFunctionsGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Generate random bytes.
   *
   * <p>From the generator of the token, never from that of a process.
   *
   * <p>POST /v1/state/keystore/crypto-functions/random-bytes
   *
   * @param body what is sent
   * @return the answer
   */
  public RandomBytesAnswer randomBytes(RandomBytesRequest body) {
    return sender.json(RANDOM_BYTES, new Parts().body(body), RandomBytesAnswer.class);
  }
}
