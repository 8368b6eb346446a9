// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param tokens Tokens that were ended.
 * @param secretIds Secret-ids that were ended.
 */
public record SystemEndCredentialsAnswer(
    @JsonProperty("tokens") Long tokens,
    @JsonProperty("secret-ids") Long secretIds) {
}
