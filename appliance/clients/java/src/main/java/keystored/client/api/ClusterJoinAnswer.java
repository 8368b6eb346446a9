// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param name Name of this appliance in the cluster.
 * @param invitedBy Where the member is that has invited.
 */
public record ClusterJoinAnswer(
    @JsonProperty("name") String name,
    @JsonProperty("invited-by") String invitedBy) {
}
