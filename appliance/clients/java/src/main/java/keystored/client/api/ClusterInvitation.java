// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param id Names the invitation in lists and audit records; nobody comes in by it.
 * @param state `open`: nobody has used it. `used`: its appliance was admitted and has not come in yet; within
 * the hour it may ask again. `over`: its appliance has come in, or was removed.
 * @param member The `cluster/name` of the one appliance that may come by it; absent: any that is free. May be
 * null: absent.
 * @param by User of the token that invited.
 * @param expires Until when it is good.
 * @param usedBy The appliance that has used it. May be null: absent.
 */
public record ClusterInvitation(
    @JsonProperty("id") String id,
    @JsonProperty("state") InvitationState state,
    @JsonProperty("member") String member,
    @JsonProperty("by") String by,
    @JsonProperty("expires") Instant expires,
    @JsonProperty("used-by") ClusterInvitationUsedBy usedBy) {
}
