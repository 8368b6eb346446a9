// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param type plaintext: the answer also has the data key in clear. May be null: absent.
 * @param bits Size of the data key. May be null: absent.
 * @param context Required for derived keys: the same text again to decrypt. May be null: absent.
 * @param associatedData Authenticated with the ciphertext, not part of it: the same again to decrypt. May be
 * null: absent.
 * @param keyVersion Version to use; default: the version in use. May be null: absent.
 */
public record GenerateDataKeyRequest(
    @JsonProperty("type") GenerateDataKeyRequestType type,
    @JsonProperty("bits") DataKeyBits bits,
    @JsonProperty("context") String context,
    @JsonProperty("associated-data") String associatedData,
    @JsonProperty("key-version") Long keyVersion) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "GenerateDataKeyRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private GenerateDataKeyRequestType type;
    private DataKeyBits bits;
    private String context;
    private String associatedData;
    private Long keyVersion;

    private Builder() {}

    /**
     * plaintext: the answer also has the data key in clear.
     *
     * @param value null: absent
     * @return this
     */
    public Builder type(GenerateDataKeyRequestType value) {
      type = value;
      return this;
    }

    /**
     * Size of the data key.
     *
     * @param value null: absent
     * @return this
     */
    public Builder bits(DataKeyBits value) {
      bits = value;
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
    public GenerateDataKeyRequest build() {
      return new GenerateDataKeyRequest(
          type,
          bits,
          context,
          associatedData,
          keyVersion);
    }
  }
}
