// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Proof key for code exchange (RFC 7636).
 *
 * @param method Always sent.
 * @param listed Whether the provider promises to check it.
 */
public record OidcTestPkce(
    @JsonProperty("method") OidcTestPkceMethod method,
    @JsonProperty("listed") Boolean listed) {
}
