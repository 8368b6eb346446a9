// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version Version of the subkey.
 * @param revocation Its block with the revocation in it.
 */
public record UnbindSubkeyRevocation(
    @JsonProperty("version") Long version,
    @JsonProperty("revocation") String revocation) {
}
