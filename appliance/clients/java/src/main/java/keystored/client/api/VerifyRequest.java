// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param text What was signed: base64, or raw UTF-8 with base64-encoded false.
 * @param base64Encoded false: the text is raw UTF-8. May be null: absent.
 * @param signature The signature, made here or elsewhere. May be null: absent.
 * @param hmac In place of signature. May be null: absent.
 * @param hashAlgorithm Hash of the text, for RSA and ECDSA. May be null: absent.
 * @param prehashed The input is the finished hash, not the data. May be null: absent.
 * @param signatureAlgorithm Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only. May
 * be null: absent.
 * @param marshaling asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. May be null:
 * absent.
 */
public record VerifyRequest(
    @JsonProperty("text") String text,
    @JsonProperty("base64-encoded") Boolean base64Encoded,
    @JsonProperty("signature") String signature,
    @JsonProperty("hmac") String hmac,
    @JsonProperty("hash-algorithm") HashAlgorithm hashAlgorithm,
    @JsonProperty("prehashed") Boolean prehashed,
    @JsonProperty("signature-algorithm") SignatureAlgorithm signatureAlgorithm,
    @JsonProperty("marshaling") SignatureMarshaling marshaling) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param text What was signed: base64, or raw UTF-8 with base64-encoded false.
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
    return "VerifyRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String text;
    private Boolean base64Encoded;
    private String signature;
    private String hmac;
    private HashAlgorithm hashAlgorithm;
    private Boolean prehashed;
    private SignatureAlgorithm signatureAlgorithm;
    private SignatureMarshaling marshaling;

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
     * The signature, made here or elsewhere.
     *
     * @param value null: absent
     * @return this
     */
    public Builder signature(String value) {
      signature = value;
      return this;
    }

    /**
     * In place of signature.
     *
     * @param value null: absent
     * @return this
     */
    public Builder hmac(String value) {
      hmac = value;
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
     * The input is the finished hash, not the data.
     *
     * @param value null: absent
     * @return this
     */
    public Builder prehashed(Boolean value) {
      prehashed = value;
      return this;
    }

    /**
     * Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only.
     *
     * @param value null: absent
     * @return this
     */
    public Builder signatureAlgorithm(SignatureAlgorithm value) {
      signatureAlgorithm = value;
      return this;
    }

    /**
     * asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s.
     *
     * @param value null: absent
     * @return this
     */
    public Builder marshaling(SignatureMarshaling value) {
      marshaling = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public VerifyRequest build() {
      return new VerifyRequest(
          text,
          base64Encoded,
          signature,
          hmac,
          hashAlgorithm,
          prehashed,
          signatureAlgorithm,
          marshaling);
    }
  }
}
