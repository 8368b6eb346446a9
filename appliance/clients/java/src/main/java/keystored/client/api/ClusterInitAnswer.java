// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param name Name of the appliance in the cluster.
 */
public record ClusterInitAnswer(
    @JsonProperty("name") String name) {
}
