// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class ActivityGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/activity", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  ActivityGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * What the appliance did in the last hour.
   *
   * <p>Points of half a minute over all worker processes, kept while the daemon runs. For more than an hour, or
   * several appliances, Prometheus reads the metrics.
   *
   * <p>GET /v1/state/system/activity
   *
   * @return the answer
   */
  public ActivityAnswer show() {
    return sender.json(SHOW, new Parts(), ActivityAnswer.class);
  }
}
