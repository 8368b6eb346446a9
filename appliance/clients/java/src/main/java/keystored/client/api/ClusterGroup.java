// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class ClusterGroup {
  private static final Operation REMOVE_MEMBER =
      new Operation("POST", "/v1/state/system/cluster/remove-member", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/cluster", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  ClusterGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Remove an appliance that is lost for ever from the cluster.
   *
   * <p>It never comes in again, and its name is given to no other. Health no longer misses it, the background
   * jobs that it ran go on elsewhere, and its audit trail counts as lost, on record. One that was only stopped,
   * or has lost its disk, is not removed: it comes back under its name. Ask any other appliance. Revoke its
   * certificate for etcd as well.
   *
   * <p>POST /v1/state/system/cluster/remove-member
   *
   * @param body what is sent
   * @return the answer
   */
  public ClusterRemoveMemberAnswer removeMember(ClusterRemoveMemberRequest body) {
    return sender.json(REMOVE_MEMBER, new Parts().body(body), ClusterRemoveMemberAnswer.class);
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
