// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param ttl How long it can be used, at most 1d. May be null: absent.
 */
public record ImportWrappingKeyOfOneRequest(
    @JsonProperty("ttl") String ttl) {
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
    private String ttl;

    private Builder() {}

    /**
     * How long it can be used, at most 1d.
     *
     * @param value null: absent
     * @return this
     */
    public Builder ttl(String value) {
      ttl = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ImportWrappingKeyOfOneRequest build() {
      return new ImportWrappingKeyOfOneRequest(
          ttl);
    }
  }
}
