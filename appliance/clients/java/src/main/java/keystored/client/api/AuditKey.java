// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param keyId Id of the key in head records.
 * @param publicKey The public key, PEM.
 */
public record AuditKey(
    @JsonProperty("key-id") String keyId,
    @JsonProperty("public-key") String publicKey) {
}
