// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Of both. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record HsmTokenLatencyUnit(String value) {
  /** The value {@code microseconds}. */
  public static final HsmTokenLatencyUnit MICROSECONDS = new HsmTokenLatencyUnit("microseconds");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public HsmTokenLatencyUnit {}

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
