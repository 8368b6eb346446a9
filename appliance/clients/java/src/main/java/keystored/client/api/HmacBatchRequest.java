// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param batchInput The requests.
 */
public record HmacBatchRequest(
    @JsonProperty("batch-input") List<HmacBatchItem> batchInput) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param batchInput The requests.
   * @return a builder
   */
  public static Builder builder(List<HmacBatchItem> batchInput) {
    Builder builder = new Builder();
    builder.batchInput = batchInput;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "HmacBatchRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private List<HmacBatchItem> batchInput;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public HmacBatchRequest build() {
      return new HmacBatchRequest(
          batchInput);
    }
  }
}
