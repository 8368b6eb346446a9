// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Where the key is. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeyStateDistributionStatusTo(String value) {
  /** The value {@code all}. */
  public static final TransitKeyStateDistributionStatusTo ALL = new TransitKeyStateDistributionStatusTo("all");

  /** The value {@code none}. */
  public static final TransitKeyStateDistributionStatusTo NONE = new TransitKeyStateDistributionStatusTo("none");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeyStateDistributionStatusTo {}

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
