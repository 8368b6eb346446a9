// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record ClaimTarget(String value) {
  /** The value {@code username}. */
  public static final ClaimTarget USERNAME = new ClaimTarget("username");

  /** The value {@code fullname}. */
  public static final ClaimTarget FULLNAME = new ClaimTarget("fullname");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ClaimTarget {}

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
