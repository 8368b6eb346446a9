// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version Default: every version that may decrypt. May be null: absent.
 * @param format clear: PKCS#8 PEM, or base64 for symmetric keys. wrapped: under wrapping-key. May be null:
 * absent.
 * @param wrappingKey RSA public key PEM, for format wrapped. May be null: absent.
 */
public record ExportRequest(
    @JsonProperty("version") Long version,
    @JsonProperty("format") ExportRequestFormat format,
    @JsonProperty("wrapping-key") String wrappingKey) {
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
    private Long version;
    private ExportRequestFormat format;
    private String wrappingKey;

    private Builder() {}

    /**
     * Default: every version that may decrypt.
     *
     * @param value null: absent
     * @return this
     */
    public Builder version(Long value) {
      version = value;
      return this;
    }

    /**
     * clear: PKCS#8 PEM, or base64 for symmetric keys. wrapped: under wrapping-key.
     *
     * @param value null: absent
     * @return this
     */
    public Builder format(ExportRequestFormat value) {
      format = value;
      return this;
    }

    /**
     * RSA public key PEM, for format wrapped.
     *
     * @param value null: absent
     * @return this
     */
    public Builder wrappingKey(String value) {
      wrappingKey = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ExportRequest build() {
      return new ExportRequest(
          version,
          format,
          wrappingKey);
    }
  }
}
