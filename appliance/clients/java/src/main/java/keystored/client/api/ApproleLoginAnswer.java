// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param token The token; shown this once.
 * @param accessor Stands for the token where the token itself must not be seen.
 * @param expiresIn Seconds until it ends.
 * @param expires When it ends, unless it is refreshed.
 * @param creationTime When it was made.
 * @param renewalTime When to refresh it or to log in again: after two thirds of its life.
 */
public record ApproleLoginAnswer(
    @JsonProperty("token") String token,
    @JsonProperty("accessor") String accessor,
    @JsonProperty("expires-in") Long expiresIn,
    @JsonProperty("expires") Instant expires,
    @JsonProperty("creation-time") Instant creationTime,
    @JsonProperty("renewal-time") Instant renewalTime) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ApproleLoginAnswer[…]";
  }
}
