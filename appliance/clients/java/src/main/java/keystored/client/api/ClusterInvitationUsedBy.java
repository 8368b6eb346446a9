// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * The appliance that has used it.
 *
 * @param name Its name.
 * @param id Its identity.
 * @param at When it asked first.
 */
public record ClusterInvitationUsedBy(
    @JsonProperty("name") String name,
    @JsonProperty("id") String id,
    @JsonProperty("at") Instant at) {
}
