// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Whether the version is on trial: `pending` until the daemon serves with it, `confirmed` in the start that
 * accepted it, `none` in later ones. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record ImageAnswerTrial(String value) {
  /** The value {@code pending}. */
  public static final ImageAnswerTrial PENDING = new ImageAnswerTrial("pending");

  /** The value {@code confirmed}. */
  public static final ImageAnswerTrial CONFIRMED = new ImageAnswerTrial("confirmed");

  /** The value {@code none}. */
  public static final ImageAnswerTrial NONE = new ImageAnswerTrial("none");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ImageAnswerTrial {}

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
