// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param batchResults One result for each request, in order.
 * @param failed How many failed.
 */
public record HmacBatchAnswer(
    @JsonProperty("batch-results") List<HmacBatchResult> batchResults,
    @JsonProperty("failed") Long failed) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "HmacBatchAnswer[…]";
  }
}
