// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * How they are written. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record CryptoFunctionsRandomBytesRequestFormat(String value) {
  /** The value {@code base64}. */
  public static final CryptoFunctionsRandomBytesRequestFormat BASE64 = new CryptoFunctionsRandomBytesRequestFormat("base64");

  /** The value {@code hex}. */
  public static final CryptoFunctionsRandomBytesRequestFormat HEX = new CryptoFunctionsRandomBytesRequestFormat("hex");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public CryptoFunctionsRandomBytesRequestFormat {}

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
