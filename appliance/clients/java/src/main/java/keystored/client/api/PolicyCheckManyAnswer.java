// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param decisions What is said of each, in the same order.
 */
public record PolicyCheckManyAnswer(
    @JsonProperty("decisions") List<PolicyCheckManyDecision> decisions) {
}
