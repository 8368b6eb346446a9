// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param plaintext What to encrypt: base64, or raw UTF-8 with base64-encoded false.
 * @param base64Encoded false: the text is raw UTF-8. May be null: absent.
 * @param context Required for derived keys: the same text again to decrypt. May be null: absent.
 * @param associatedData Authenticated with the ciphertext, not part of it: the same again to decrypt. May be
 * null: absent.
 * @param keyVersion Version to use; default: the version in use. May be null: absent.
 */
public record EncryptRequest(
    @JsonProperty("plaintext") String plaintext,
    @JsonProperty("base64-encoded") Boolean base64Encoded,
    @JsonProperty("context") String context,
    @JsonProperty("associated-data") String associatedData,
    @JsonProperty("key-version") Long keyVersion) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param plaintext What to encrypt: base64, or raw UTF-8 with base64-encoded false.
   * @return a builder
   */
  public static Builder builder(String plaintext) {
    Builder builder = new Builder();
    builder.plaintext = plaintext;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "EncryptRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String plaintext;
    private Boolean base64Encoded;
    private String context;
    private String associatedData;
    private Long keyVersion;

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
     * Required for derived keys: the same text again to decrypt.
     *
     * @param value null: absent
     * @return this
     */
    public Builder context(String value) {
      context = value;
      return this;
    }

    /**
     * Authenticated with the ciphertext, not part of it: the same again to decrypt.
     *
     * @param value null: absent
     * @return this
     */
    public Builder associatedData(String value) {
      associatedData = value;
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
     * Makes the document.
     *
     * @return the document
     */
    public EncryptRequest build() {
      return new EncryptRequest(
          plaintext,
          base64Encoded,
          context,
          associatedData,
          keyVersion);
    }
  }
}
