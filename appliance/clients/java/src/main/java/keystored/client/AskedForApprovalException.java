// A call that was not done: other people were asked to approve it.
package keystored.client;

import java.time.Duration;
import java.util.List;
import keystored.client.api.Problem;

/**
 * A call that was not done: other people were asked to approve it. When they have, the same call runs once by {@link
 * Client#withApproval}.
 */
public final class AskedForApprovalException extends ProblemException {
  /** The code of this exception; the appliance has no such code. */
  public static final String APPROVAL_ASKED = "approval-asked";

  private static final long serialVersionUID = 1;

  /** Of the request for approval. */
  private final String id;

  /** Six words. */
  private final String words;

  /**
   * Makes the exception of the answer 202.
   *
   * @param id of the request for approval
   * @param needed how many people must approve
   * @param expires end of the time for their approval
   * @param words six words for the whole request
   */
  public AskedForApprovalException(String id, int needed, String expires, String words) {
    super(problemOf("waits for " + needed + " approvals until " + expires + ": " + id + " (" + words + ")"), 202, Duration.ZERO);
    this.id = id;
    this.words = words;
  }

  private static Problem problemOf(String detail) {
    return new Problem("about:blank", "Other people were asked", 202L, detail, APPROVAL_ASKED, null, List.of());
  }

  /**
   * Names the request for approval.
   *
   * @return for {@link Client#withApproval}
   */
  public String id() {
    return id;
  }

  /**
   * Answers six words for the whole request, which approvers compare.
   *
   * @return the words
   */
  public String words() {
    return words;
  }
}
