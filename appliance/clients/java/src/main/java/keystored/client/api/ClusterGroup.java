// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class ClusterGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/cluster", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  ClusterGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * The appliances that share the store.
   *
   * <p>As the answering appliance sees them. One that is cut off from the majority does not answer: ask another.
   *
   * <p>GET /v1/state/system/cluster
   *
   * @return the answer
   */
  public ClusterAnswer show() {
    return sender.json(SHOW, new Parts(), ClusterAnswer.class);
  }
}
