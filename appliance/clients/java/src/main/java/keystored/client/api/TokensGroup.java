// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class TokensGroup {
  private static final Operation LIST =
      new Operation("GET", "/v1/state/keystore/tokens", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  TokensGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * List the tokens of the tenant by accessor.
   *
   * <p>Tokens that work, without their values. The accessor names a token where it is looked at or ended.
   *
   * <p>GET /v1/state/keystore/tokens
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<Token> list(TokensListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), Token.class);
  }

  /**
   * List the tokens of the tenant by accessor.
   *
   * <p>Tokens that work, without their values. The accessor names a token where it is looked at or ended.
   *
   * <p>GET /v1/state/keystore/tokens
   *
   * @return the answer
   */
  public Page<Token> list() {
    return list(TokensListOptions.builder().build());
  }

  /**
   * List the tokens of the tenant by accessor. It follows the pages and reads them one by one.
   *
   * <p>Tokens that work, without their values. The accessor names a token where it is looked at or ended.
   *
   * <p>GET /v1/state/keystore/tokens
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<Token> listEach(TokensListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }
}
