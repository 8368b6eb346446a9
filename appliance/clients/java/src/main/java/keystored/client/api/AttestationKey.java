// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param kid Thumbprint of the key (RFC 7638), which `kid` of statements names.
 * @param kty Key type.
 * @param crv Curve.
 * @param x Coordinate x, base64url.
 * @param y Coordinate y, base64url.
 * @param alg Signature algorithm.
 * @param use For signatures alone.
 * @param since When it was made.
 */
public record AttestationKey(
    @JsonProperty("kid") String kid,
    @JsonProperty("kty") String kty,
    @JsonProperty("crv") String crv,
    @JsonProperty("x") String x,
    @JsonProperty("y") String y,
    @JsonProperty("alg") String alg,
    @JsonProperty("use") String use,
    @JsonProperty("since") String since) {
}
