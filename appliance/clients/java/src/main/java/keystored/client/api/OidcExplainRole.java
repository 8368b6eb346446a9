// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param name Name of the role.
 * @param matches Whether the role claim has its name.
 * @param grants Whether it gives its policies.
 * @param missingClaims Required claims that are not there.
 * @param reason Why.
 */
public record OidcExplainRole(
    @JsonProperty("name") String name,
    @JsonProperty("matches") Boolean matches,
    @JsonProperty("grants") Boolean grants,
    @JsonProperty("missing-claims") List<String> missingClaims,
    @JsonProperty("reason") String reason) {
}
