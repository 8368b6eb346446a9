// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Where the key lives: as a wrapped blob, or as an object in the token. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record Custody(String value) {
  /** The value {@code wrapped}. */
  public static final Custody WRAPPED = new Custody("wrapped");

  /** The value {@code token}. */
  public static final Custody TOKEN = new Custody("token");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public Custody {}

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
