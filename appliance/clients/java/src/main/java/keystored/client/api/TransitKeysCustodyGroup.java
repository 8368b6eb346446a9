// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class TransitKeysCustodyGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/transit-keys/{}/custody", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  TransitKeysCustodyGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * A signed statement about the custody of a key version.
   *
   * <p>What the token says of the key now (attributes, serial number, firmware), how the version is kept, where
   * its material is from, since when it may be exported, and its exports. Verifiable offline, with `keystorectl
   * custody verify` or any JWS library.
   *
   * <p>GET /v1/state/keystore/transit-keys/&#123;name}/custody
   *
   * @param name Name of the transit key.
   * @param options the optional parameters
   * @return the answer
   */
  public CustodyAnswer show(String name, TransitKeysCustodyShowOptions options) {
    return sender.json(SHOW, options.addTo(new Parts(name)), CustodyAnswer.class);
  }

  /**
   * A signed statement about the custody of a key version.
   *
   * <p>What the token says of the key now (attributes, serial number, firmware), how the version is kept, where
   * its material is from, since when it may be exported, and its exports. Verifiable offline, with `keystorectl
   * custody verify` or any JWS library.
   *
   * <p>GET /v1/state/keystore/transit-keys/&#123;name}/custody
   *
   * @param name Name of the transit key.
   * @return the answer
   */
  public CustodyAnswer show(String name) {
    return show(name, TransitKeysCustodyShowOptions.builder().build());
  }
}
