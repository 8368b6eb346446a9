// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class PolicyGroup {
  private static final Operation CHECK =
      new Operation("POST", "/v1/state/policy/check", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation CHECK_MANY =
      new Operation("POST", "/v1/state/policy/check-many", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  PolicyGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Ask what the policies say, without doing it.
   *
   * <p>The same decision as for a request, with the reason, for the own token, for another (`accessor`) or for
   * `policies`. Another token needs a rule that allows `read` of `/v1/state/keystore/tokens/&lt;accessor&gt;`;
   * policies that are not those of the own token need one for `read` of
   * `/v1/state/policy/policies/&lt;name&gt;`. What depends on the content of a request stays open: values that
   * `restricted` speaks of, giving policies that one does not have, and names in fields (`also-needs`), unless
   * `names` says them.
   *
   * <p>POST /v1/state/policy/check
   *
   * @param body what is sent
   * @return the answer
   */
  public PolicyCheckAnswer check(PolicyCheckRequest body) {
    return sender.json(CHECK, new Parts().body(body), PolicyCheckAnswer.class);
  }

  /**
   * Ask what the policies say about up to 200 requests.
   *
   * <p>As `check`, for the own token, and allowed by the same rules.
   *
   * <p>POST /v1/state/policy/check-many
   *
   * @param body what is sent
   * @return the answer
   */
  public PolicyCheckManyAnswer checkMany(PolicyCheckManyRequest body) {
    return sender.json(CHECK_MANY, new Parts().body(body), PolicyCheckManyAnswer.class);
  }
}
