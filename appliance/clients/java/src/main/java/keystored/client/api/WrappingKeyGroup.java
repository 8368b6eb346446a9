// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class WrappingKeyGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/wrapping-key", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  WrappingKeyGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * The public key of the tenant under which keys are wrapped for import.
   *
   * <p>Each tenant has its own. Wrap as RSA-OAEP (SHA-256, MGF1 with SHA-256) of a fresh AES key, followed by
   * AES key wrap with padding of the material. For a key that takes one import alone: `import-wrapping-key` of
   * the transit key.
   *
   * <p>GET /v1/state/keystore/wrapping-key
   *
   * @return the answer
   */
  public ImportWrappingKeyAnswer show() {
    return sender.json(SHOW, new Parts(), ImportWrappingKeyAnswer.class);
  }
}
