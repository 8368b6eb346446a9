// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param revoked Certificates that are revoked now and were not before.
 * @param stillValid Other certificates of its line that are valid still.
 */
public record CaRevokeAnswer(
    @JsonProperty("revoked") Long revoked,
    @JsonProperty("still-valid") Long stillValid) {
}
