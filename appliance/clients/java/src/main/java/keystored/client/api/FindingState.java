// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * `unanswered`: a part of health, which is not `ok`. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record FindingState(String value) {
  /** The value {@code unanswered}. */
  public static final FindingState UNANSWERED = new FindingState("unanswered");

  /** The value {@code answered}. */
  public static final FindingState ANSWERED = new FindingState("answered");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public FindingState {}

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
