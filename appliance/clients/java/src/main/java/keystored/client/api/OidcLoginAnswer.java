// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param loginUrl Where the person signs in.
 * @param userCode What the person compares there.
 * @param pollToken Fetches the token.
 * @param interval Seconds between two attempts to fetch it.
 * @param expiresIn Seconds until it is too late.
 */
public record OidcLoginAnswer(
    @JsonProperty("login-url") String loginUrl,
    @JsonProperty("user-code") String userCode,
    @JsonProperty("poll-token") String pollToken,
    @JsonProperty("interval") Long interval,
    @JsonProperty("expires-in") Long expiresIn) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "OidcLoginAnswer[…]";
  }
}
