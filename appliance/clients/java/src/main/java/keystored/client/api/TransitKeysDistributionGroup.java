// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class TransitKeysDistributionGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/transit-keys/{}/distribution", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  TransitKeysDistributionGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Which appliances and tokens hold a key version.
   *
   * <p>Asks every appliance of the cluster: each opens the version in its own token and says whether it could.
   * An appliance that has not answered after ten seconds, or is out, is named as such. Ask within
   * `activate-after` of a rotation: the new version is not used before.
   *
   * <p>GET /v1/state/keystore/transit-keys/&#123;name}/distribution
   *
   * @param name Name of the transit key.
   * @param options the optional parameters
   * @return the answer
   */
  public KeyDistributionAnswer show(String name, TransitKeysDistributionShowOptions options) {
    return sender.json(SHOW, options.addTo(new Parts(name)), KeyDistributionAnswer.class);
  }

  /**
   * Which appliances and tokens hold a key version.
   *
   * <p>Asks every appliance of the cluster: each opens the version in its own token and says whether it could.
   * An appliance that has not answered after ten seconds, or is out, is named as such. Ask within
   * `activate-after` of a rotation: the new version is not used before.
   *
   * <p>GET /v1/state/keystore/transit-keys/&#123;name}/distribution
   *
   * @param name Name of the transit key.
   * @return the answer
   */
  public KeyDistributionAnswer show(String name) {
    return show(name, TransitKeysDistributionShowOptions.builder().build());
  }
}
