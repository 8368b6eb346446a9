// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param name Name of the appliance in its cluster; absent for one that stands alone. May be null: absent.
 * @param id Its identity there. May be null: absent.
 * @param self Whether it is the one that answers.
 * @param state `holds`: its store has the version, and its token has opened it just now. `lacks`: `reason` says
 * why. `silent`: it did not say in time. `away`: it is out of the cluster, and was not asked.
 * @param token Token that opened it, by its name in the configuration. May be null: absent.
 * @param tokenSerial Serial number that this token says it has. May be null: absent.
 * @param reason Why it lacks the version. May be null: absent.
 */
public record KeyDistributionAppliance(
    @JsonProperty("name") String name,
    @JsonProperty("id") String id,
    @JsonProperty("self") Boolean self,
    @JsonProperty("state") DistributionState state,
    @JsonProperty("token") String token,
    @JsonProperty("token-serial") String tokenSerial,
    @JsonProperty("reason") String reason) {
}
