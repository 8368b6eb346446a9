// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Where the key is. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeyDistributionStatusTo(String value) {
  /** The value {@code all}. */
  public static final TransitKeyDistributionStatusTo ALL = new TransitKeyDistributionStatusTo("all");

  /** The value {@code none}. */
  public static final TransitKeyDistributionStatusTo NONE = new TransitKeyDistributionStatusTo("none");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeyDistributionStatusTo {}

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
