// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TopicsShowResult(String value) {
  /** The value {@code done}. */
  public static final TopicsShowResult DONE = new TopicsShowResult("done");

  /** The value {@code refused}. */
  public static final TopicsShowResult REFUSED = new TopicsShowResult("refused");

  /** The value {@code failed}. */
  public static final TopicsShowResult FAILED = new TopicsShowResult("failed");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TopicsShowResult {}

  /**
   * Answers the value.
   *
   * @return as on the wire
   */
  @Override
  @JsonValue
  public String value() {
    return value;
  }

  @Override
  public String toString() {
    return String.valueOf(value);
  }
}
