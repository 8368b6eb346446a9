// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class HsmGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/hsm", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  HsmGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Tokens, mechanisms and latencies.
   *
   * <p>The configured PKCS#11 tokens as last seen by the answering worker. Latencies are in microseconds.
   *
   * <p>GET /v1/state/system/hsm
   *
   * @return the answer
   */
  public HsmAnswer show() {
    return sender.json(SHOW, new Parts(), HsmAnswer.class);
  }
}
