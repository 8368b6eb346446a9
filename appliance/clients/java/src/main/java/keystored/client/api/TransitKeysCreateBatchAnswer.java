// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param batchResults One result for each entry, in order.
 * @param failed How many failed.
 */
public record TransitKeysCreateBatchAnswer(
    @JsonProperty("batch-results") List<TransitKeyBatchResult> batchResults,
    @JsonProperty("failed") Long failed) {
}
