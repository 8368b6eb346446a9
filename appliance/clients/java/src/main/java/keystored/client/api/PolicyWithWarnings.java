// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param name Name of the policy.
 * @param description What the policy is for. May be null: absent.
 * @param restApi What may be done over this API. May be null: absent.
 * @param warnings What was accepted and is hardly meant so. May be null: absent.
 */
public record PolicyWithWarnings(
    @JsonProperty("name") String name,
    @JsonProperty("description") String description,
    @JsonProperty("rest-api") PolicyRestApi restApi,
    @JsonProperty("warnings") List<String> warnings) {
}
