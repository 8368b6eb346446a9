// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param accessor Stands for the token where the token itself must not be seen.
 * @param token The token; it is shown this once.
 * @param creationTime When it was made.
 */
public record TokenCreateRootAnswer(
    @JsonProperty("accessor") String accessor,
    @JsonProperty("token") String token,
    @JsonProperty("creation-time") Instant creationTime) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "TokenCreateRootAnswer[…]";
  }
}
