// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param statement Compact JWS (RFC 7515), ES256; GET /v1/state/system/attestation-keys has the key that `kid`
 * of its header names.
 * @param generation Generation of the key that it is about.
 */
public record CaCustodyAnswer(
    @JsonProperty("statement") String statement,
    @JsonProperty("generation") Long generation) {
}
