// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class AuditGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/audit", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  AuditGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Keys and signed heads of the audit trail.
   *
   * <p>Kept elsewhere, they show whether a copy of the trail is complete and authentic.
   *
   * <p>GET /v1/state/system/audit
   *
   * @return the answer
   */
  public AuditAnswer show() {
    return sender.json(SHOW, new Parts(), AuditAnswer.class);
  }
}
