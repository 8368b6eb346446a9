// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class HealthGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/health", "application/json", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);

  private final Sender sender;

  HealthGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Whether the appliance works.
   *
   * <p>The answer has the same form in both cases; the status is 503 while something is not well.
   *
   * <p>GET /v1/state/system/health
   *
   * @return the answer
   */
  public HealthAnswer show() {
    return sender.json(SHOW, new Parts(), HealthAnswer.class);
  }
}
