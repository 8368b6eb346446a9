// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * clear: PKCS#8 PEM, or base64 for symmetric keys. wrapped: under wrapping-key. Later versions may answer
 * others.
 *
 * @param value as on the wire
 */
public record ExportRequestFormat(String value) {
  /** The value {@code clear}. */
  public static final ExportRequestFormat CLEAR = new ExportRequestFormat("clear");

  /** The value {@code wrapped}. */
  public static final ExportRequestFormat WRAPPED = new ExportRequestFormat("wrapped");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ExportRequestFormat {}

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
