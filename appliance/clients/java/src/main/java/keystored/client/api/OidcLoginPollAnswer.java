// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;

/**
 * A document of the API.
 *
 * @param token The token; it is shown this once.
 * @param accessor Stands for the token where the token itself must not be seen.
 * @param policies What it may do.
 * @param expiresIn Seconds until it ends.
 * @param expires When it ends.
 * @param creationTime When it was made.
 */
public record OidcLoginPollAnswer(
    @JsonProperty("token") String token,
    @JsonProperty("accessor") String accessor,
    @JsonProperty("policies") List<String> policies,
    @JsonProperty("expires-in") Long expiresIn,
    @JsonProperty("expires") Instant expires,
    @JsonProperty("creation-time") Instant creationTime) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "OidcLoginPollAnswer[…]";
  }
}
