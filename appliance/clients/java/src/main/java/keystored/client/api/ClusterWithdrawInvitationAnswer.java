// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param id Names the invitation in lists and audit records; nobody comes in by it.
 * @param unconfirmed Appliances that have not confirmed within 20 seconds that the one that was admitted by it
 * has no way to the shared store any more.
 * @param wrappingKey Where each appliance has a token, and one was admitted by it: as of `remove-member`. May be
 * null: absent.
 */
public record ClusterWithdrawInvitationAnswer(
    @JsonProperty("id") String id,
    @JsonProperty("unconfirmed") List<String> unconfirmed,
    @JsonProperty("wrapping-key") WrappingKeyAfterRemoval wrappingKey) {
}
