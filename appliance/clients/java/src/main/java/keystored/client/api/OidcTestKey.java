// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param kid Key id. May be null: absent.
 * @param kty Key type.
 * @param alg Algorithm. May be null: absent.
 * @param use What for. May be null: absent.
 */
public record OidcTestKey(
    @JsonProperty("kid") String kid,
    @JsonProperty("kty") String kty,
    @JsonProperty("alg") String alg,
    @JsonProperty("use") String use) {
}
