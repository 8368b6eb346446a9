// A refusal: the problem document of the appliance, or what can be said of an answer that has none.
package keystored.client;

import java.time.Duration;
import java.util.List;
import keystored.client.api.Problem;
import keystored.client.api.ProblemItem;

/**
 * A refusal: the RFC 9457 document of the appliance, or what can be said of an answer that has none. {@link #code} is the contract:
 * kebab-case, never reused.
 */
public class ProblemException extends RuntimeException {
  /** The code of an answer that does not come from the appliance, for example the error page of a proxy. */
  public static final String UNEXPECTED_ANSWER = "unexpected-answer";

  private static final long serialVersionUID = 1;

  private final transient Problem problem;

  /** The HTTP status. */
  private final int status;

  /** The error code. */
  private final String code;

  /** For people. */
  private final String detail;

  /** Of the request. */
  private final String requestId;

  /** Zero for none. */
  private final Duration retryAfter;

  /**
   * Makes the exception of a problem document.
   *
   * @param problem the document
   * @param status the HTTP status; of an item of a batch, the one it would have had
   * @param retryAfter the pause the appliance asked for, or zero
   */
  public ProblemException(Problem problem, int status, Duration retryAfter) {
    super(textOf(problem, status));
    this.problem = problem;
    this.status = status;
    this.code = problem.code();
    this.detail = problem.detail() == null ? problem.title() : problem.detail();
    this.requestId = problem.requestId();
    this.retryAfter = retryAfter;
  }

  /**
   * Makes the exception of an item of a batch.
   *
   * @param status the HTTP status it would have had, or null
   * @param code the error code
   * @param message why it failed, or null
   * @return the exception, not thrown
   */
  public static ProblemException ofItem(Long status, String code, String message) {
    int known = status == null ? 0 : status.intValue();
    return new ProblemException(new Problem(null, null, (long) known, message, code, null, List.of()), known, Duration.ZERO);
  }

  /**
   * Answers the HTTP status; of an item of a batch, the one it would have had.
   *
   * @return for example 404
   */
  public int status() {
    return status;
  }

  /**
   * Answers the error code.
   *
   * @return for example {@code not-found}
   */
  public String code() {
    return code;
  }

  /**
   * Says to a person what was wrong and how to mend it.
   *
   * @return the detail, or the title of a problem without one; may be null
   */
  public String detail() {
    return detail;
  }

  /**
   * Finds the request in the audit trail and the logs of the appliance.
   *
   * @return the request id; null for answers that do not come from the appliance
   */
  public String requestId() {
    return requestId;
  }

  /**
   * Answers the pause the appliance asked for.
   *
   * @return zero when it did not ask
   */
  public Duration retryAfter() {
    return retryAfter;
  }

  /**
   * Answers an entry for each thing that is wrong.
   *
   * @return empty after the exception was serialized
   */
  public List<ProblemItem> errors() {
    return problem == null || problem.errors() == null ? List.of() : problem.errors();
  }

  private static String textOf(Problem problem, int status) {
    String why = problem.detail() == null ? problem.title() : problem.detail();
    String text = problem.code() + " (" + status + ")" + (why == null ? "" : ": " + why);
    return problem.requestId() == null ? text : text + " [request " + problem.requestId() + "]";
  }
}
