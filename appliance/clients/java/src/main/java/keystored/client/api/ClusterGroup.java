// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class ClusterGroup {
  private static final Operation ADMIT =
      new Operation("POST", "/v1/state/system/cluster/admit", "application/json", Operation.Trait.PUBLIC);
  private static final Operation ADMIT_TOKEN =
      new Operation("POST", "/v1/state/system/cluster/admit-token", "application/json", Operation.Trait.PUBLIC);
  private static final Operation INIT =
      new Operation("POST", "/v1/state/system/cluster/init", "application/json");
  private static final Operation INVITATIONS =
      new Operation("GET", "/v1/state/system/cluster/invitations", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation INVITE =
      new Operation("POST", "/v1/state/system/cluster/invite", "application/json");
  private static final Operation JOIN =
      new Operation("POST", "/v1/state/system/cluster/join", "application/json");
  private static final Operation REMOVE_MEMBER =
      new Operation("POST", "/v1/state/system/cluster/remove-member", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/cluster", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation WITHDRAW_INVITATION =
      new Operation("POST", "/v1/state/system/cluster/withdraw-invitation", "application/json");

  private final Sender sender;

  ClusterGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Admit the appliance that was invited.
   *
   * <p>Asked by an appliance that joins, with the secret of its invitation and no token. It gets certificates
   * for its member of etcd, and adds that itself. Asked again within the hour with the same keys, before the
   * appliance has come in, it gets others, and those before are revoked. Nobody else is the same: the requests
   * prove their keys.
   *
   * <p>POST /v1/state/system/cluster/admit
   *
   * @param body what is sent
   * @return the answer
   */
  public ClusterAdmitAnswer admit(ClusterAdmitRequest body) {
    return sender.json(ADMIT, new Parts().body(body), ClusterAdmitAnswer.class);
  }

  /**
   * Give the token of the appliance that was invited the own keys of the others.
   *
   * <p>Asked by an appliance that joins a cluster with a token in each appliance, with the secret of its
   * invitation and no token of a user, again and again until the state is `ready`. The wrapping key is rotated
   * for it: the next one is carried to the token of every appliance, wrapped by RSA-OAEP, and every key is
   * wrapped again under it.
   *
   * <p>POST /v1/state/system/cluster/admit-token
   *
   * @param body what is sent
   * @return the answer
   */
  public ClusterAdmitTokenAnswer admitToken(ClusterAdmitTokenRequest body) {
    return sender.json(ADMIT_TOKEN, new Parts().body(body), ClusterAdmitTokenAnswer.class);
  }

  /**
   * Make an appliance that stands alone the first of a cluster.
   *
   * <p>Nothing that it has is lost. Its configuration has the section `cluster` with `member`. The answer comes
   * first; then all processes are replaced, which takes a few seconds without an answer, and an attended
   * appliance waits for its PIN.
   *
   * <p>POST /v1/state/system/cluster/init
   *
   * @param body what is sent
   * @return the answer
   */
  public ClusterInitAnswer init(ClusterInitRequest body) {
    return sender.json(INIT, new Parts().body(body), ClusterInitAnswer.class);
  }

  /**
   * The invitations into the cluster.
   *
   * <p>Those of the last hour, without their secrets, and those by which an appliance was admitted that has not
   * come in since.
   *
   * <p>GET /v1/state/system/cluster/invitations
   *
   * @return the answer
   */
  public ClusterInvitationsAnswer invitations() {
    return sender.json(INVITATIONS, new Parts(), ClusterInvitationsAnswer.class);
  }

  /**
   * Invite an appliance into the cluster.
   *
   * <p>The invitation has the address of this appliance, the fingerprint of its CA and a secret. It is good for
   * one appliance and one hour, and over as soon as that has come in; who has it can join, so carry it like a
   * password.
   *
   * <p>POST /v1/state/system/cluster/invite
   *
   * @param body what is sent
   * @return the answer
   */
  public ClusterInviteAnswer invite(ClusterInviteRequest body) {
    return sender.json(INVITE, new Parts().body(body), ClusterInviteAnswer.class);
  }

  /**
   * Join the cluster that has invited this appliance.
   *
   * <p>Of an appliance that stands alone and has nothing yet but a way to log in: who may claim it may let it
   * join, with the token of that login. Its configuration has the section `cluster` with `member`. The state of
   * the cluster replaces its own, with all tokens: its former audit trail is kept beside the new one. Whether
   * the HSM opens the keys of the cluster is proven first; what is refused leaves it as it was. With a token in
   * each appliance, the own keys are carried into its token first; `conflict` says how far that is after 40
   * seconds, and the same request goes on with it. The answer comes first; then all processes are replaced,
   * which takes seconds to minutes without an answer, and an attended appliance waits for its PIN.
   *
   * <p>POST /v1/state/system/cluster/join
   *
   * @param body what is sent
   * @return the answer
   */
  public ClusterJoinAnswer join(ClusterJoinRequest body) {
    return sender.json(JOIN, new Parts().body(body), ClusterJoinAnswer.class);
  }

  /**
   * Remove an appliance that is lost for ever from the cluster.
   *
   * <p>It never comes in again, and its name is given to no other. Health no longer misses it, the background
   * jobs that it ran go on elsewhere, and its audit trail counts as lost, on record. One that was only stopped,
   * or has lost its disk, is not removed: it comes back under its name. Ask any other appliance. Where the
   * appliances run etcd, its member leaves, its certificates are revoked and its connections end; an etcd of
   * your own has to refuse its certificate.
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
   * <p>As the answering appliance sees them. One that is cut off from the majority answers this from its last
   * state to root of the tenant `system`, says so by `cut-off`, and names in `warnings` which members of etcd it
   * reaches.
   *
   * <p>GET /v1/state/system/cluster
   *
   * @return the answer
   */
  public ClusterAnswer show() {
    return sender.json(SHOW, new Parts(), ClusterAnswer.class);
  }

  /**
   * Withdraw an invitation into the cluster.
   *
   * <p>Nobody comes in by it any more. Of an appliance that was admitted by it and has not come in, the
   * certificates are revoked and its member of etcd leaves; one that has come in is removed with
   * `remove-member`.
   *
   * <p>POST /v1/state/system/cluster/withdraw-invitation
   *
   * @param body what is sent
   * @return the answer
   */
  public ClusterWithdrawInvitationAnswer withdrawInvitation(ClusterWithdrawInvitationRequest body) {
    return sender.json(WITHDRAW_INVITATION, new Parts().body(body), ClusterWithdrawInvitationAnswer.class);
  }
}
