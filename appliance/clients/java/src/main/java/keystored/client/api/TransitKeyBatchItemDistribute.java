// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Distribution of the key.
 *
 * @param to Where the key goes; inherit means all. In a cluster every appliance has every key. May be null:
 * absent.
 */
public record TransitKeyBatchItemDistribute(
    @JsonProperty("to") Distribution to) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private Distribution to;

    private Builder() {}

    /**
     * Where the key goes; inherit means all. In a cluster every appliance has every key.
     *
     * @param value null: absent
     * @return this
     */
    public Builder to(Distribution value) {
      to = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeyBatchItemDistribute build() {
      return new TransitKeyBatchItemDistribute(
          to);
    }
  }
}
