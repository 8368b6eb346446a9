// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * binary answers the packet in base64. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record OpenpgpSignRequestFormat(String value) {
  /** The value {@code armored}. */
  public static final OpenpgpSignRequestFormat ARMORED = new OpenpgpSignRequestFormat("armored");

  /** The value {@code binary}. */
  public static final OpenpgpSignRequestFormat BINARY = new OpenpgpSignRequestFormat("binary");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public OpenpgpSignRequestFormat {}

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
