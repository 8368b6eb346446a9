// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param name Name of the policy.
 * @param description What the policy is for. May be null: absent.
 * @param restApi What may be done over this API. May be null: absent.
 */
public record Policy(
    @JsonProperty("name") String name,
    @JsonProperty("description") String description,
    @JsonProperty("rest-api") PolicyRestApi restApi) {
}
