// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param name Name of the appliance in its configuration.
 * @param id Its identity, drawn when it came in first.
 * @param removedAt When it was removed.
 * @param removedBy User of the token that removed it.
 */
public record ClusterRemoved(
    @JsonProperty("name") String name,
    @JsonProperty("id") String id,
    @JsonProperty("removed-at") Instant removedAt,
    @JsonProperty("removed-by") String removedBy) {
}
