// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * The failed sign-in that was asked for.
 *
 * @param stage Where it failed.
 * @param code The error code.
 * @param reason Why, in one word.
 * @param hint What to do about it. May be null: absent.
 * @param occurredAt When.
 */
public record OidcExplainLogin(
    @JsonProperty("stage") String stage,
    @JsonProperty("code") String code,
    @JsonProperty("reason") String reason,
    @JsonProperty("hint") String hint,
    @JsonProperty("occurred-at") Instant occurredAt) {
}
