// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param bytes How many octets. May be null: absent.
 * @param format How they are written. May be null: absent.
 */
public record RandomBytesRequest(
    @JsonProperty("bytes") Long bytes,
    @JsonProperty("format") RandomBytesRequestFormat format) {
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
    private Long bytes;
    private RandomBytesRequestFormat format;

    private Builder() {}

    /**
     * How many octets.
     *
     * @param value null: absent
     * @return this
     */
    public Builder bytes(Long value) {
      bytes = value;
      return this;
    }

    /**
     * How they are written.
     *
     * @param value null: absent
     * @return this
     */
    public Builder format(RandomBytesRequestFormat value) {
      format = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public RandomBytesRequest build() {
      return new RandomBytesRequest(
          bytes,
          format);
    }
  }
}
