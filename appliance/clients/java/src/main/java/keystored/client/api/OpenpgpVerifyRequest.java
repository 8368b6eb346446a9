// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param text What was signed: base64, or raw UTF-8 with base64-encoded false.
 * @param base64Encoded false: the text is raw UTF-8. May be null: absent.
 * @param signature Detached signature: ASCII armor, or base64 of the packets.
 */
public record OpenpgpVerifyRequest(
    @JsonProperty("text") String text,
    @JsonProperty("base64-encoded") Boolean base64Encoded,
    @JsonProperty("signature") String signature) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param text What was signed: base64, or raw UTF-8 with base64-encoded false.
   * @param signature Detached signature: ASCII armor, or base64 of the packets.
   * @return a builder
   */
  public static Builder builder(String text, String signature) {
    Builder builder = new Builder();
    builder.text = text;
    builder.signature = signature;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "OpenpgpVerifyRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String text;
    private Boolean base64Encoded;
    private String signature;

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
     * Makes the document.
     *
     * @return the document
     */
    public OpenpgpVerifyRequest build() {
      return new OpenpgpVerifyRequest(
          text,
          base64Encoded,
          signature);
    }
  }
}
