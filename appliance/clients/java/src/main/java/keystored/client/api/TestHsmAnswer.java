// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param tokens What came of it, for each token.
 */
public record TestHsmAnswer(
    @JsonProperty("tokens") List<HsmTrial> tokens) {
}
