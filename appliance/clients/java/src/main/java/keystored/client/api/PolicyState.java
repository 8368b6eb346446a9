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
 * @param builtIn Whether every tenant has it; built-in policies cannot be changed. May be null: absent.
 * @param warnings Rules that no request can meet, and names that cannot be hidden. May be null: absent.
 */
public record PolicyState(
    @JsonProperty("name") String name,
    @JsonProperty("description") String description,
    @JsonProperty("rest-api") PolicyRestApi restApi,
    @JsonProperty("built-in") Boolean builtIn,
    @JsonProperty("warnings") List<String> warnings) {
}
