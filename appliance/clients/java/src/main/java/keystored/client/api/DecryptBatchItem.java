// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param ciphertext What encrypt answered.
 * @param base64Encoded false: the text is raw UTF-8. May be null: absent.
 * @param context Required for derived keys: the same text again to decrypt. May be null: absent.
 * @param associatedData Authenticated with the ciphertext, not part of it: the same again to decrypt. May be
 * null: absent.
 * @param reference Echoed from the request. May be null: absent.
 */
public record DecryptBatchItem(
    @JsonProperty("ciphertext") String ciphertext,
    @JsonProperty("base64-encoded") Boolean base64Encoded,
    @JsonProperty("context") String context,
    @JsonProperty("associated-data") String associatedData,
    @JsonProperty("reference") String reference) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param ciphertext What encrypt answered.
   * @return a builder
   */
  public static Builder builder(String ciphertext) {
    Builder builder = new Builder();
    builder.ciphertext = ciphertext;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String ciphertext;
    private Boolean base64Encoded;
    private String context;
    private String associatedData;
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
    public DecryptBatchItem build() {
      return new DecryptBatchItem(
          ciphertext,
          base64Encoded,
          context,
          associatedData,
          reference);
    }
  }
}
