// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param allowed Whether the request would not be refused with 403.
 * @param exists Whether the tenant has such a path; where it has not, a request is answered 404 whatever the
 * policies say.
 * @param rule Path of the rule that decided. May be null: absent.
 * @param why The decision in words.
 */
public record PolicyCheckManyDecision(
    @JsonProperty("allowed") Boolean allowed,
    @JsonProperty("exists") Boolean exists,
    @JsonProperty("rule") String rule,
    @JsonProperty("why") String why) {
}
