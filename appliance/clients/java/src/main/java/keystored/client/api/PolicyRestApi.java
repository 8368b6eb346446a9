// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What may be done over this API.
 *
 * @param rules The most exact rule for a path decides; without one it is refused. May be null: absent.
 */
public record PolicyRestApi(
    @JsonProperty("rules") List<PolicyRule> rules) {
}
