// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class LoginsGroup {
  private static final Operation LOGOUT =
      new Operation("POST", "/v1/logout", "");
  private static final Operation POST_V1_OIDC_LOGIN_POLL =
      new Operation("POST", "/v1/oidc-login/poll", "application/json", Operation.Trait.PUBLIC);

  private final Sender sender;

  LoginsGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * End the own token, and with it its session.
   *
   * <p>POST /v1/logout
   */
  public void logout() {
    sender.nothing(LOGOUT, new Parts());
  }

  /**
   * Fetch the token of a sign-in, once it is approved.
   *
   * <p>Until then 400 with `authorization-pending`; the member `error` carries the same in the spelling of RFC
   * 8628.
   *
   * <p>POST /v1/oidc-login/poll
   *
   * @param body what is sent
   * @return the answer
   */
  public PostV1OidcLoginPollAnswer postV1OidcLoginPoll(PostV1OidcLoginPollRequest body) {
    return sender.json(POST_V1_OIDC_LOGIN_POLL, new Parts().body(body), PostV1OidcLoginPollAnswer.class);
  }
}
