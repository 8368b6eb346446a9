// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param ciphertext What encrypt answered.
 * @param context Required for derived keys: the same text again to decrypt. May be null: absent.
 * @param associatedData Authenticated with the ciphertext, not part of it: the same again to decrypt. May be
 * null: absent.
 * @param keyVersion Version to use; default: the version in use. May be null: absent.
 * @param reference Echoed from the request. May be null: absent.
 */
public record RewrapBatchItem(
    @JsonProperty("ciphertext") String ciphertext,
    @JsonProperty("context") String context,
    @JsonProperty("associated-data") String associatedData,
    @JsonProperty("key-version") Long keyVersion,
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
    private String context;
    private String associatedData;
    private Long keyVersion;
    private String reference;

    private Builder() {}

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
    public RewrapBatchItem build() {
      return new RewrapBatchItem(
          ciphertext,
          context,
          associatedData,
          keyVersion,
          reference);
    }
  }
}
