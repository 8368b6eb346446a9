// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param kid Thumbprint of the key (RFC 7638), which `kid` of statements names.
 */
public record RotateAttestationKeyAnswer(
    @JsonProperty("kid") String kid) {
}
