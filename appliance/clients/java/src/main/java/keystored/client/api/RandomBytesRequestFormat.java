// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * How they are written. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record RandomBytesRequestFormat(String value) {
  /** The value {@code base64}. */
  public static final RandomBytesRequestFormat BASE64 = new RandomBytesRequestFormat("base64");

  /** The value {@code hex}. */
  public static final RandomBytesRequestFormat HEX = new RandomBytesRequestFormat("hex");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public RandomBytesRequestFormat {}

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
