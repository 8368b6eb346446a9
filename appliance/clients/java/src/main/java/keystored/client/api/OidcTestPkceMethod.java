// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Always sent. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record OidcTestPkceMethod(String value) {
  /** The value {@code S256}. */
  public static final OidcTestPkceMethod S256 = new OidcTestPkceMethod("S256");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public OidcTestPkceMethod {}

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
