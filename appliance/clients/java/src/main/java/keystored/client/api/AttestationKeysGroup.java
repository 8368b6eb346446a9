// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class AttestationKeysGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/attestation-keys", "application/json", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);

  private final Sender sender;

  AttestationKeysGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * The keys that verify custody statements.
   *
   * <p>A JWK Set (RFC 7517), without a token. Empty until the first statement. Keep a copy elsewhere, or the
   * thumbprint: what this address answers is as good as its TLS certificate.
   *
   * <p>GET /v1/state/system/attestation-keys
   *
   * @return the answer
   */
  public AttestationKeysAnswer show() {
    return sender.json(SHOW, new Parts(), AttestationKeysAnswer.class);
  }
}
