// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param name Name of the appliance in its configuration.
 * @param id Its identity, drawn when it came in first.
 * @param version Version of its program.
 * @param newestLevel The highest level of the records that its program works with.
 * @param state `in`: it may answer, and changes wait for it. `expelled`: it did not apply what it should. `out`:
 * it answers no more.
 * @param publicUrl The `public-url` that its certificates and links name; absent before it has started with a
 * program that says it. May be null: absent.
 * @param self Whether it is the one that answers.
 * @param leadsJobs Whether it runs the background jobs of all.
 * @param behind Revisions that it lacked at its last sign of life; a few are ordinary.
 * @param certificatesRevoked Whether those were revoked by which it reaches the shared store, so that it comes
 * in no more; only where the appliances run etcd.
 * @param silentMilliseconds Time since its last sign of life was seen.
 */
public record ClusterMember(
    @JsonProperty("name") String name,
    @JsonProperty("id") String id,
    @JsonProperty("version") String version,
    @JsonProperty("newest-level") Long newestLevel,
    @JsonProperty("state") ClusterMemberState state,
    @JsonProperty("public-url") String publicUrl,
    @JsonProperty("self") Boolean self,
    @JsonProperty("leads-jobs") Boolean leadsJobs,
    @JsonProperty("behind") Long behind,
    @JsonProperty("certificates-revoked") Boolean certificatesRevoked,
    @JsonProperty("silent-milliseconds") Long silentMilliseconds) {
}
