// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What the token endpoint says to client-id and client-secret, tried with a code that does not exist. Later
 * versions may answer others.
 *
 * @param value as on the wire
 */
public record OidcTestAnswerClientCredentials(String value) {
  /** The value {@code accepted}. */
  public static final OidcTestAnswerClientCredentials ACCEPTED = new OidcTestAnswerClientCredentials("accepted");

  /** The value {@code refused}. */
  public static final OidcTestAnswerClientCredentials REFUSED = new OidcTestAnswerClientCredentials("refused");

  /** The value {@code unknown}. */
  public static final OidcTestAnswerClientCredentials UNKNOWN = new OidcTestAnswerClientCredentials("unknown");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public OidcTestAnswerClientCredentials {}

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
