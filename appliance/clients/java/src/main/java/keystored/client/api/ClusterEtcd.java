// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param appliance Name of the appliance that runs it; empty before it has started once.
 * @param url Where the appliances reach it.
 * @param leader Whether it leads etcd.
 * @param learner Whether it is being filled, and does not count for the majority yet.
 * @param version Version of etcd; absent when it does not answer. May be null: absent.
 * @param bytes Size of its file; 8 GiB are the most. May be null: absent.
 * @param problem What is wrong with it. May be null: absent.
 */
public record ClusterEtcd(
    @JsonProperty("appliance") String appliance,
    @JsonProperty("url") String url,
    @JsonProperty("leader") Boolean leader,
    @JsonProperty("learner") Boolean learner,
    @JsonProperty("version") String version,
    @JsonProperty("bytes") Long bytes,
    @JsonProperty("problem") String problem) {
}
