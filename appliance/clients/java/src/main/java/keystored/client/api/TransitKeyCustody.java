// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Where the key lives: as a wrapped blob, or as an object in the token. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeyCustody(String value) {
  /** The value {@code wrapped}. */
  public static final TransitKeyCustody WRAPPED = new TransitKeyCustody("wrapped");

  /** The value {@code token}. */
  public static final TransitKeyCustody TOKEN = new TransitKeyCustody("token");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeyCustody {}

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
