// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param text What was signed: base64, or raw UTF-8 with base64-encoded false. May be null: absent.
 * @param base64Encoded Default true; false: the text is raw UTF-8. May be null: absent.
 * @param signature The signature, made here or elsewhere. May be null: absent.
 * @param hmac In place of signature. May be null: absent.
 * @param hashAlgorithm Default sha256. May be null: absent.
 * @param prehashed The input is the finished hash, not the data. Default false. May be null: absent.
 * @param signatureAlgorithm Padding of RSA signatures; default pkcs1v15. May be null: absent.
 * @param marshaling asn1 (default): base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. May be
 * null: absent.
 * @param batchInput 1 to 1,000 requests, each with the fields of a single one and optionally `reference`. May be
 * null: absent.
 */
public record TransitKeysVerifyRequest(
    @JsonProperty("text") String text,
    @JsonProperty("base64-encoded") Boolean base64Encoded,
    @JsonProperty("signature") String signature,
    @JsonProperty("hmac") String hmac,
    @JsonProperty("hash-algorithm") TransitKeysSignRequestHashAlgorithm hashAlgorithm,
    @JsonProperty("prehashed") Boolean prehashed,
    @JsonProperty("signature-algorithm") TransitKeysSignRequestSignatureAlgorithm signatureAlgorithm,
    @JsonProperty("marshaling") TransitKeysSignRequestMarshaling marshaling,
    @JsonProperty("batch-input") List<Map<String, Object>> batchInput) {
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
    return "TransitKeysVerifyRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String text;
    private Boolean base64Encoded;
    private String signature;
    private String hmac;
    private TransitKeysSignRequestHashAlgorithm hashAlgorithm;
    private Boolean prehashed;
    private TransitKeysSignRequestSignatureAlgorithm signatureAlgorithm;
    private TransitKeysSignRequestMarshaling marshaling;
    private List<Map<String, Object>> batchInput;

    private Builder() {}

    /**
     * What was signed: base64, or raw UTF-8 with base64-encoded false.
     *
     * @param value null: absent
     * @return this
     */
    public Builder text(String value) {
      text = value;
      return this;
    }

    /**
     * Default true; false: the text is raw UTF-8.
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
     * Default sha256.
     *
     * @param value null: absent
     * @return this
     */
    public Builder hashAlgorithm(TransitKeysSignRequestHashAlgorithm value) {
      hashAlgorithm = value;
      return this;
    }

    /**
     * The input is the finished hash, not the data. Default false.
     *
     * @param value null: absent
     * @return this
     */
    public Builder prehashed(Boolean value) {
      prehashed = value;
      return this;
    }

    /**
     * Padding of RSA signatures; default pkcs1v15.
     *
     * @param value null: absent
     * @return this
     */
    public Builder signatureAlgorithm(TransitKeysSignRequestSignatureAlgorithm value) {
      signatureAlgorithm = value;
      return this;
    }

    /**
     * asn1 (default): base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s.
     *
     * @param value null: absent
     * @return this
     */
    public Builder marshaling(TransitKeysSignRequestMarshaling value) {
      marshaling = value;
      return this;
    }

    /**
     * 1 to 1,000 requests, each with the fields of a single one and optionally `reference`.
     *
     * @param value null: absent
     * @return this
     */
    public Builder batchInput(List<Map<String, Object>> value) {
      batchInput = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeysVerifyRequest build() {
      return new TransitKeysVerifyRequest(
          text,
          base64Encoded,
          signature,
          hmac,
          hashAlgorithm,
          prehashed,
          signatureAlgorithm,
          marshaling,
          batchInput);
    }
  }
}
