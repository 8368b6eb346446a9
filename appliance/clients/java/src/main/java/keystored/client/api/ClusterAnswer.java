// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param shape `alone`: the configuration has no section `cluster`, and there are no members.
 * @param cutOff Whether the appliance that answers is cut off: this is then what it knew last, and which members
 * of etcd it reaches now. May be null: absent.
 * @param epoch Name of the shared store. May be null: absent.
 * @param revision The state of the shared store that the appliance has.
 * @param level The level in whose formats records are written: the highest that the programs of all members work
 * with.
 * @param members Every appliance that came in once and was not removed, by name.
 * @param etcd The members of etcd, where the appliances run them; empty for an etcd that somebody else runs.
 * @param removed Those that were removed for ever, by name.
 * @param warnings What the administrator should know, or change, in sentences. May be null: absent.
 */
public record ClusterAnswer(
    @JsonProperty("shape") ClusterShape shape,
    @JsonProperty("cut-off") Boolean cutOff,
    @JsonProperty("epoch") String epoch,
    @JsonProperty("revision") Long revision,
    @JsonProperty("level") Long level,
    @JsonProperty("members") List<ClusterMember> members,
    @JsonProperty("etcd") List<ClusterEtcd> etcd,
    @JsonProperty("removed") List<ClusterRemoved> removed,
    @JsonProperty("warnings") List<String> warnings) {
}
