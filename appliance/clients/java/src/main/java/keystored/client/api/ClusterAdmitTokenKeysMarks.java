// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What the token has to make with the keys that it has taken.
 *
 * @param wrapping What the wrapping key makes of a constant, in hexadecimal.
 * @param binding What the binding key makes of a constant, in hexadecimal.
 */
public record ClusterAdmitTokenKeysMarks(
    @JsonProperty("wrapping") String wrapping,
    @JsonProperty("binding") String binding) {
}
