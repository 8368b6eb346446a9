// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param text What to sign: base64, or raw UTF-8 with base64-encoded false.
 * @param base64Encoded false: the text is raw UTF-8. May be null: absent.
 * @param keyVersion Version to use; default: the version in use. May be null: absent.
 * @param format binary answers the packet in base64. May be null: absent.
 * @param expiresAfter How long the signature holds; for ever when absent. May be null: absent.
 */
public record OpenpgpSignRequest(
    @JsonProperty("text") String text,
    @JsonProperty("base64-encoded") Boolean base64Encoded,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("format") OpenpgpSignRequestFormat format,
    @JsonProperty("expires-after") String expiresAfter) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param text What to sign: base64, or raw UTF-8 with base64-encoded false.
   * @return a builder
   */
  public static Builder builder(String text) {
    Builder builder = new Builder();
    builder.text = text;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "OpenpgpSignRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String text;
    private Boolean base64Encoded;
    private Long keyVersion;
    private OpenpgpSignRequestFormat format;
    private String expiresAfter;

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
     * binary answers the packet in base64.
     *
     * @param value null: absent
     * @return this
     */
    public Builder format(OpenpgpSignRequestFormat value) {
      format = value;
      return this;
    }

    /**
     * How long the signature holds; for ever when absent.
     *
     * @param value null: absent
     * @return this
     */
    public Builder expiresAfter(String value) {
      expiresAfter = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public OpenpgpSignRequest build() {
      return new OpenpgpSignRequest(
          text,
          base64Encoded,
          keyVersion,
          format,
          expiresAfter);
    }
  }
}
