// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param text What to sign: base64, or raw UTF-8 with base64-encoded false.
 * @param base64Encoded false: the text is raw UTF-8. May be null: absent.
 * @param hashAlgorithm Hash of the text, for RSA and ECDSA. May be null: absent.
 * @param prehashed The input is the finished hash, not the data. May be null: absent.
 * @param signatureAlgorithm Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only. May
 * be null: absent.
 * @param marshaling asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. May be null:
 * absent.
 * @param keyVersion Version to use; default: the version in use. May be null: absent.
 * @param reference Echoed from the request. May be null: absent.
 */
public record SignBatchItem(
    @JsonProperty("text") String text,
    @JsonProperty("base64-encoded") Boolean base64Encoded,
    @JsonProperty("hash-algorithm") HashAlgorithm hashAlgorithm,
    @JsonProperty("prehashed") Boolean prehashed,
    @JsonProperty("signature-algorithm") SignatureAlgorithm signatureAlgorithm,
    @JsonProperty("marshaling") SignatureMarshaling marshaling,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("reference") String reference) {
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

  /** Makes the document. */
  public static final class Builder {
    private String text;
    private Boolean base64Encoded;
    private HashAlgorithm hashAlgorithm;
    private Boolean prehashed;
    private SignatureAlgorithm signatureAlgorithm;
    private SignatureMarshaling marshaling;
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
    public SignBatchItem build() {
      return new SignBatchItem(
          text,
          base64Encoded,
          hashAlgorithm,
          prehashed,
          signatureAlgorithm,
          marshaling,
          keyVersion,
          reference);
    }
  }
}
