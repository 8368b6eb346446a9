// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param uri One of allowed-redirect-uris.
 * @param registered Whether the provider knows it.
 */
public record OidcTestRedirectUri(
    @JsonProperty("uri") String uri,
    @JsonProperty("registered") OidcTestRedirectUriRegistered registered) {
}
