// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param id Names the invitation in lists and audit records; nobody comes in by it.
 * @param invitation One line, for the file that the new appliance is started with.
 * @param expires Until when it is good.
 */
public record ClusterInviteAnswer(
    @JsonProperty("id") String id,
    @JsonProperty("invitation") String invitation,
    @JsonProperty("expires") Instant expires) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ClusterInviteAnswer[…]";
  }
}
