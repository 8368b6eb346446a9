// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param plaintext What to authenticate: base64, or raw UTF-8 with base64-encoded false.
 * @param base64Encoded false: the text is raw UTF-8. May be null: absent.
 * @param hashAlgorithm Hash of the text, for RSA and ECDSA. May be null: absent.
 * @param keyVersion Version to use; default: the version in use. May be null: absent.
 * @param reference Echoed from the request. May be null: absent.
 */
public record HmacBatchItem(
    @JsonProperty("plaintext") String plaintext,
    @JsonProperty("base64-encoded") Boolean base64Encoded,
    @JsonProperty("hash-algorithm") HashAlgorithm hashAlgorithm,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("reference") String reference) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param plaintext What to authenticate: base64, or raw UTF-8 with base64-encoded false.
   * @return a builder
   */
  public static Builder builder(String plaintext) {
    Builder builder = new Builder();
    builder.plaintext = plaintext;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String plaintext;
    private Boolean base64Encoded;
    private HashAlgorithm hashAlgorithm;
    private Long keyVersion;
    private String reference;

    private Builder() {}

    /**
     * false: the text is raw UTF-8.
     *
     * @param value null: absent
     * @return this
     */
    public Builder base64Encoded(Boolean value) {
      base64Encoded = value;
      return this;
    }

    /**
     * Hash of the text, for RSA and ECDSA.
     *
     * @param value null: absent
     * @return this
     */
    public Builder hashAlgorithm(HashAlgorithm value) {
      hashAlgorithm = value;
      return this;
    }

    /**
     * Version to use; default: the version in use.
     *
     * @param value null: absent
     * @return this
     */
    public Builder keyVersion(Long value) {
      keyVersion = value;
      return this;
    }

    /**
     * Echoed from the request.
     *
     * @param value null: absent
     * @return this
     */
    public Builder reference(String value) {
      reference = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public HmacBatchItem build() {
      return new HmacBatchItem(
          plaintext,
          base64Encoded,
          hashAlgorithm,
          keyVersion,
          reference);
    }
  }
}
