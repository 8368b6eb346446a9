// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class LoginsGroup {
  private static final Operation LOGOUT =
      new Operation("POST", "/v1/logout", "");

  private final Sender sender;

  LoginsGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * End the own token, and with it its session.
   *
   * <p>The token ends at once, with the tokens that it made. A token that ended already is answered 401.
   *
   * <p>POST /v1/logout
   */
  public void logout() {
    sender.nothing(LOGOUT, new Parts());
  }
}
