// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What may be done over this API.
 *
 * @param rules The most exact rule for a path decides; without one it is refused.
 */
public record PolicyRestApi(
    @JsonProperty("rules") List<PolicyRestApiRulesItem> rules) {
}
