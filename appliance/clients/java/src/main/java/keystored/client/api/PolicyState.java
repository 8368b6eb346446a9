// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param name Name of the policy.
 * @param description What the policy is for. May be null: absent.
 * @param restApi What may be done over this API. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 * @param builtIn Whether every tenant has it; built-in policies cannot be changed. May be null: absent.
 * @param warnings Rules that no request can meet, and names that cannot be hidden. May be null: absent.
 */
public record PolicyState(
    @JsonProperty("name") String name,
    @JsonProperty("description") String description,
    @JsonProperty("rest-api") PolicyRestApi restApi,
    @JsonProperty("labels") Map<String, String> labels,
    @JsonProperty("built-in") Boolean builtIn,
    @JsonProperty("warnings") List<String> warnings) {
}
