// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;

/**
 * A document of the API.
 *
 * @param name Name of the appliance in its configuration.
 * @param id Its identity, drawn when it came in first.
 * @param removedAt When it was removed.
 * @param removedBy User of the token that removed it.
 * @param lostChains Chains of the audit trail that are lost with it: no verification expects them any more.
 * @param unconfirmed Appliances that have not confirmed within 20 seconds that it has no way to the shared store
 * any more, where the appliances run etcd: the same request asks again.
 * @param wrappingKey Where each appliance has a token: whether the wrapping key, which the token of the removed
 * one has, is being rotated, or was `rotated` by an earlier request; `unchanged`: it could not be, as
 * system:logs says, and is to be rotated by hand. Absent where all reach one HSM. May be null: absent.
 */
public record ClusterRemoveMemberAnswer(
    @JsonProperty("name") String name,
    @JsonProperty("id") String id,
    @JsonProperty("removed-at") Instant removedAt,
    @JsonProperty("removed-by") String removedBy,
    @JsonProperty("lost-chains") List<String> lostChains,
    @JsonProperty("unconfirmed") List<String> unconfirmed,
    @JsonProperty("wrapping-key") WrappingKeyAfterRemoval wrappingKey) {
}
