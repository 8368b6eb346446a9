// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version Version of the key; of several the newest.
 * @param keyblock Public key block; of a subkey with its primary key.
 */
public record ExportOpenpgpPublicKey(
    @JsonProperty("version") Long version,
    @JsonProperty("keyblock") String keyblock) {
}
