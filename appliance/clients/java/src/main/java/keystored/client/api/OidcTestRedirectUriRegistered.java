// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Whether the provider knows it. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record OidcTestRedirectUriRegistered(String value) {
  /** The value {@code yes}. */
  public static final OidcTestRedirectUriRegistered YES = new OidcTestRedirectUriRegistered("yes");

  /** The value {@code unknown}. */
  public static final OidcTestRedirectUriRegistered UNKNOWN = new OidcTestRedirectUriRegistered("unknown");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public OidcTestRedirectUriRegistered {}

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
