// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param level Whether sign-ins fail because of it.
 * @param message What is wrong.
 * @param fix What to do about it. May be null: absent.
 */
public record OidcTestFinding(
    @JsonProperty("level") OidcTestFindingLevel level,
    @JsonProperty("message") String message,
    @JsonProperty("fix") String fix) {
}
