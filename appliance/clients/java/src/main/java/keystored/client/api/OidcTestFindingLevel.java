// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Whether sign-ins fail because of it. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record OidcTestFindingLevel(String value) {
  /** The value {@code error}. */
  public static final OidcTestFindingLevel ERROR = new OidcTestFindingLevel("error");

  /** The value {@code warning}. */
  public static final OidcTestFindingLevel WARNING = new OidcTestFindingLevel("warning");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public OidcTestFindingLevel {}

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
