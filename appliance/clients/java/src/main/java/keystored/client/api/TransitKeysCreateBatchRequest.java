// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param batchInput The entries.
 */
public record TransitKeysCreateBatchRequest(
    @JsonProperty("batch-input") List<TransitKeyBatchItem> batchInput) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param batchInput The entries.
   * @return a builder
   */
  public static Builder builder(List<TransitKeyBatchItem> batchInput) {
    Builder builder = new Builder();
    builder.batchInput = batchInput;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private List<TransitKeyBatchItem> batchInput;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeysCreateBatchRequest build() {
      return new TransitKeysCreateBatchRequest(
          batchInput);
    }
  }
}
