// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param allowed Whether the request would not be refused with 403.
 * @param exists Whether the tenant has such a path; where it has not, a request is answered 404 whatever the
 * policies say.
 * @param rule Path of the rule that decided. May be null: absent.
 * @param policy Policy that has the rule; absent: no rule decided. May be null: absent.
 * @param decidedBy Whose policies decided, since both must allow; `service`: what it asks of every caller there.
 * @param restricted Whether rules limit values of fields or hide fields there.
 * @param why The decision in words.
 * @param alsoNeeds What the request needs besides, where a field of it, or of the entry in its path, names
 * another entry or has a value that needs more. May be null: absent.
 */
public record PolicyCheckAnswer(
    @JsonProperty("allowed") Boolean allowed,
    @JsonProperty("exists") Boolean exists,
    @JsonProperty("rule") String rule,
    @JsonProperty("policy") String policy,
    @JsonProperty("decided-by") PolicyCheckAnswerDecidedBy decidedBy,
    @JsonProperty("restricted") Boolean restricted,
    @JsonProperty("why") String why,
    @JsonProperty("also-needs") List<NeededRight> alsoNeeds) {
}
