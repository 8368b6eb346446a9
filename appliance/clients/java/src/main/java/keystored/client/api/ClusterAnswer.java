// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param shape `alone`: the configuration has no section `cluster`, and the other fields are empty.
 * @param epoch Name of the shared store. May be null: absent.
 * @param revision The state of the shared store that the appliance has.
 * @param members Every appliance that came in once and was not removed, by name.
 * @param removed Those that were removed for ever, by name.
 */
public record ClusterAnswer(
    @JsonProperty("shape") ClusterShape shape,
    @JsonProperty("epoch") String epoch,
    @JsonProperty("revision") Long revision,
    @JsonProperty("members") List<ClusterMember> members,
    @JsonProperty("removed") List<ClusterRemoved> removed) {
}
