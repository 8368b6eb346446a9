// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class TokenGroup {
  private static final Operation CREATE =
      new Operation("POST", "/v1/state/keystore/token/create", "application/json");
  private static final Operation CREATE_ROOT =
      new Operation("POST", "/v1/state/keystore/token/create-root", "application/json");
  private static final Operation DISABLE =
      new Operation("POST", "/v1/state/keystore/token/disable", "");
  private static final Operation INFO =
      new Operation("POST", "/v1/state/keystore/token/info", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation REFRESH =
      new Operation("POST", "/v1/state/keystore/token/refresh", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  TokenGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Make a token with policies of the own one.
   *
   * <p>The new token is a child: it ends with the caller’s token and works only from where that one works. Its
   * user stays the caller’s.
   *
   * <p>POST /v1/state/keystore/token/create
   *
   * @param body what is sent
   * @return the answer
   */
  public TokenCreateAnswer create(TokenCreateRequest body) {
    return sender.json(CREATE, new Parts().body(body), TokenCreateAnswer.class);
  }

  /**
   * Make the root token of a tenant, once.
   *
   * <p>For the system tenant's root alone. The token is shown this once; a second call is refused with 409,
   * whatever became of the first token.
   *
   * <p>POST /v1/state/keystore/token/create-root
   *
   * @param body what is sent
   * @return the answer
   */
  public TokenCreateRootAnswer createRoot(TokenCreateRootRequest body) {
    return sender.json(CREATE_ROOT, new Parts().body(body), TokenCreateRootAnswer.class);
  }

  /**
   * End a token and its children at once.
   *
   * <p>The token is always named, the own one too: an empty request must not end a root token, which is made
   * once.
   *
   * <p>POST /v1/state/keystore/token/disable
   *
   * @param body what is sent
   */
  public void disable(TokenDisableRequest body) {
    sender.nothing(DISABLE, new Parts().body(body));
  }

  /**
   * What a token is; without fields: the own one.
   *
   * <p>Named by `token` or by `accessor`. Another token than the own one needs a rule that allows `read` of
   * `/v1/state/keystore/tokens/&lt;accessor&gt;`.
   *
   * <p>POST /v1/state/keystore/token/info
   *
   * @param body what is sent
   * @return the answer
   */
  public TokenInfoAnswer info(TokenInfoRequest body) {
    return sender.json(INFO, new Parts().body(body), TokenInfoAnswer.class);
  }

  /**
   * Give the own token a new expiry.
   *
   * <p>The value stays. The new expiry is now plus the smaller of `increment` and the token's ttl, never past
   * its longest life.
   *
   * <p>POST /v1/state/keystore/token/refresh
   *
   * @param body what is sent
   * @return the answer
   */
  public TokenRefreshAnswer refresh(TokenRefreshRequest body) {
    return sender.json(REFRESH, new Parts().body(body), TokenRefreshAnswer.class);
  }
}
