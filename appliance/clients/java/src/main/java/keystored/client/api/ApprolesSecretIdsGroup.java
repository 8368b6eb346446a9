// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class ApprolesSecretIdsGroup {
  private static final Operation LIST =
      new Operation("GET", "/v1/state/keystore/authentication/approles/{}/secret-ids", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  ApprolesSecretIdsGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * List the secret-ids of an approle by accessor.
   *
   * <p>Secret-ids that still work, without their values.
   *
   * <p>GET /v1/state/keystore/authentication/approles/&#123;name}/secret-ids
   *
   * @param name Name of the approle.
   * @param options the optional parameters
   * @return the answer
   */
  public Page<SecretId> list(String name, ApprolesSecretIdsListOptions options) {
    return sender.page(LIST, options.addTo(new Parts(name)), SecretId.class);
  }

  /**
   * List the secret-ids of an approle by accessor.
   *
   * <p>Secret-ids that still work, without their values.
   *
   * <p>GET /v1/state/keystore/authentication/approles/&#123;name}/secret-ids
   *
   * @param name Name of the approle.
   * @return the answer
   */
  public Page<SecretId> list(String name) {
    return list(name, ApprolesSecretIdsListOptions.builder().build());
  }

  /**
   * List the secret-ids of an approle by accessor. It follows the pages and reads them one by one.
   *
   * <p>Secret-ids that still work, without their values.
   *
   * <p>GET /v1/state/keystore/authentication/approles/&#123;name}/secret-ids
   *
   * @param name Name of the approle.
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<SecretId> listEach(String name, ApprolesSecretIdsListOptions options) {
    return Page.walk(after -> list(name, after == null ? options : options.startingAfter(after)));
  }
}
