// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class FindingsGroup {
  private static final Operation ANSWER =
      new Operation("POST", "/v1/state/system/findings/{}/answer", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST =
      new Operation("GET", "/v1/state/system/findings", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/findings/{}", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  FindingsGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Answer a finding: a person knows of it.
   *
   * <p>From then on it is no part of health. What is found with other numbers is one again.
   *
   * <p>POST /v1/state/system/findings/&#123;finding}/answer
   *
   * @param finding Name of the finding.
   * @param body what is sent
   * @return the answer
   */
  public AnswerFindingAnswer answer(String finding, AnswerFindingRequest body) {
    return sender.json(ANSWER, new Parts(finding).body(body), AnswerFindingAnswer.class);
  }

  /**
   * What a start or a background job has found, and who has answered it.
   *
   * <p>Of this appliance. What nobody has answered is a part of health.
   *
   * <p>GET /v1/state/system/findings
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<Finding> list(FindingsListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), Finding.class);
  }

  /**
   * What a start or a background job has found, and who has answered it.
   *
   * <p>Of this appliance. What nobody has answered is a part of health.
   *
   * <p>GET /v1/state/system/findings
   *
   * @return the answer
   */
  public Page<Finding> list() {
    return list(FindingsListOptions.builder().build());
  }

  /**
   * What a start or a background job has found, and who has answered it. It follows the pages and reads them one
   * by one.
   *
   * <p>Of this appliance. What nobody has answered is a part of health.
   *
   * <p>GET /v1/state/system/findings
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<Finding> listEach(FindingsListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * One finding.
   *
   * <p>As in the list of all findings.
   *
   * <p>GET /v1/state/system/findings/&#123;finding}
   *
   * @param finding Name of the finding.
   * @return the answer
   */
  public FindingAnswer show(String finding) {
    return sender.json(SHOW, new Parts(finding), FindingAnswer.class);
  }
}
