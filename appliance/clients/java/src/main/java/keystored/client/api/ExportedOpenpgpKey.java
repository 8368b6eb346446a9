// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version Version of the key.
 * @param value OpenPGP private key block.
 */
public record ExportedOpenpgpKey(
    @JsonProperty("version") Long version,
    @JsonProperty("value") String value) {
}
