// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param ciphertext The ciphertext. May be null: absent.
 * @param keyVersion Version of the key that was used. May be null: absent.
 * @param batchResults Of a batch: one result for each request, in order. May be null: absent.
 * @param failed Of a batch: how many failed. May be null: absent.
 */
public record TransitKeysEncryptAnswer(
    @JsonProperty("ciphertext") String ciphertext,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("batch-results") List<TransitKeysEncryptAnswerBatchResultsItem> batchResults,
    @JsonProperty("failed") Long failed) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "TransitKeysEncryptAnswer[…]";
  }
}
