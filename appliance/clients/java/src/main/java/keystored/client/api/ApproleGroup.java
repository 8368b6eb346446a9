// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class ApproleGroup {
  private static final Operation LOGIN =
      new Operation("POST", "/v1/approle-login", "application/json", Operation.Trait.PUBLIC);

  private final Sender sender;

  ApproleGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Log in as an approle.
   *
   * <p>Whatever is wrong with the credentials, the refusal is the same. After 10 failures in a minute for one
   * role-id, or 60 from one address, further wrong ones are answered 429 until the minute is over; right ones
   * log in, one secret-id 600 times a minute.
   *
   * <p>POST /v1/approle-login
   *
   * @param body what is sent
   * @return the answer
   */
  public ApproleLoginAnswer login(ApproleLoginRequest body) {
    return sender.json(LOGIN, new Parts().body(body), ApproleLoginAnswer.class);
  }
}
