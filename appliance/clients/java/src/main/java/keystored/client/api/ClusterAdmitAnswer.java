// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param cluster Name of the etcd of the cluster.
 * @param endpoints Client URLs of the members of etcd.
 * @param peer Among the members of etcd.
 * @param client For the shared store.
 */
public record ClusterAdmitAnswer(
    @JsonProperty("cluster") String cluster,
    @JsonProperty("endpoints") List<String> endpoints,
    @JsonProperty("peer") ClusterAdmitPeer peer,
    @JsonProperty("client") ClusterAdmitClient client) {
}
