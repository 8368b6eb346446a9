// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The tokens with which it shares its keys; absent for a token by itself.
 *
 * @param name Name of the group, which stored keys have.
 * @param opensKeys Whether the token is up and has the wrapping key in use.
 */
public record HsmTokenGroup(
    @JsonProperty("name") String name,
    @JsonProperty("opens-keys") Boolean opensKeys) {
}
