// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param state `waiting`: another rotation comes first. `rewrapping`: the keys are wrapped again. `ready`: the
 * appliance may be admitted.
 * @param done Keys that are wrapped again.
 * @param total Keys to wrap again, as counted so far.
 * @param keys When ready; absent for a token that has the keys already. May be null: absent.
 */
public record ClusterAdmitTokenAnswer(
    @JsonProperty("state") TokenAdmissionState state,
    @JsonProperty("done") Long done,
    @JsonProperty("total") Long total,
    @JsonProperty("keys") ClusterAdmitTokenKeys keys) {
}
