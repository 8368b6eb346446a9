// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The key that wraps all others, and its last rotation.
 *
 * @param number Number of the wrapping key in use; each rotation makes the next.
 * @param state `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key
 * is kept; every start tries again.
 * @param done Keys rewrapped by the last rotation.
 * @param total Keys to rewrap, as counted so far.
 * @param failed Keys that could not be rewrapped; system:logs names them.
 * @param started When the last rotation began. May be null: absent.
 * @param finished When it ended. May be null: absent.
 */
public record HsmTokenWrappingKey(
    @JsonProperty("number") Long number,
    @JsonProperty("state") WrappingKeyState state,
    @JsonProperty("done") Long done,
    @JsonProperty("total") Long total,
    @JsonProperty("failed") Long failed,
    @JsonProperty("started") String started,
    @JsonProperty("finished") String finished) {
}
