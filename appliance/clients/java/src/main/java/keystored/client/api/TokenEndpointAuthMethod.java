// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * How the secret is sent; default: as the provider says. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TokenEndpointAuthMethod(String value) {
  /** The value {@code client_secret_basic}. */
  public static final TokenEndpointAuthMethod CLIENT_SECRET_BASIC = new TokenEndpointAuthMethod("client_secret_basic");

  /** The value {@code client_secret_post}. */
  public static final TokenEndpointAuthMethod CLIENT_SECRET_POST = new TokenEndpointAuthMethod("client_secret_post");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TokenEndpointAuthMethod {}

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
