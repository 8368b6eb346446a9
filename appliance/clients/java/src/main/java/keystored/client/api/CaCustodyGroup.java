// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class CaCustodyGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/tls/ca/{}/custody", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  CaCustodyGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * A signed statement about the custody of a CA key.
   *
   * <p>What the token says of the key now: attributes, serial number, firmware. CA keys are made in the token
   * and cannot leave it; where several tokens share their keys, they are wrapped. Verifiable offline, with
   * `keystorectl custody verify` or any JWS library.
   *
   * <p>GET /v1/state/keystore/tls/ca/&#123;name}/custody
   *
   * @param name Name of the TLS CA.
   * @param options the optional parameters
   * @return the answer
   */
  public CaCustodyAnswer show(String name, CaCustodyShowOptions options) {
    return sender.json(SHOW, options.addTo(new Parts(name)), CaCustodyAnswer.class);
  }

  /**
   * A signed statement about the custody of a CA key.
   *
   * <p>What the token says of the key now: attributes, serial number, firmware. CA keys are made in the token
   * and cannot leave it; where several tokens share their keys, they are wrapped. Verifiable offline, with
   * `keystorectl custody verify` or any JWS library.
   *
   * <p>GET /v1/state/keystore/tls/ca/&#123;name}/custody
   *
   * @param name Name of the TLS CA.
   * @return the answer
   */
  public CaCustodyAnswer show(String name) {
    return show(name, CaCustodyShowOptions.builder().build());
  }
}
