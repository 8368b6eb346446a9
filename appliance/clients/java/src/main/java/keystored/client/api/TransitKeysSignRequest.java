// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param text What to sign: base64, or raw UTF-8 with base64-encoded false. May be null: absent.
 * @param base64Encoded Default true; false: the text is raw UTF-8. May be null: absent.
 * @param hashAlgorithm Default sha256. May be null: absent.
 * @param prehashed The input is the finished hash, not the data. Default false. May be null: absent.
 * @param signatureAlgorithm Padding of RSA signatures; default pkcs1v15. May be null: absent.
 * @param marshaling asn1 (default): base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. May be
 * null: absent.
 * @param keyVersion Version to use; default: the version in use. May be null: absent.
 * @param batchInput 1 to 1,000 requests, each with the fields of a single one and optionally `reference`. May be
 * null: absent.
 */
public record TransitKeysSignRequest(
    @JsonProperty("text") String text,
    @JsonProperty("base64-encoded") Boolean base64Encoded,
    @JsonProperty("hash-algorithm") TransitKeysSignRequestHashAlgorithm hashAlgorithm,
    @JsonProperty("prehashed") Boolean prehashed,
    @JsonProperty("signature-algorithm") TransitKeysSignRequestSignatureAlgorithm signatureAlgorithm,
    @JsonProperty("marshaling") TransitKeysSignRequestMarshaling marshaling,
    @JsonProperty("key-version") Long keyVersion,
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
    return "TransitKeysSignRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String text;
    private Boolean base64Encoded;
    private TransitKeysSignRequestHashAlgorithm hashAlgorithm;
    private Boolean prehashed;
    private TransitKeysSignRequestSignatureAlgorithm signatureAlgorithm;
    private TransitKeysSignRequestMarshaling marshaling;
    private Long keyVersion;
    private List<Map<String, Object>> batchInput;

    private Builder() {}

    /**
     * What to sign: base64, or raw UTF-8 with base64-encoded false.
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
    public TransitKeysSignRequest build() {
      return new TransitKeysSignRequest(
          text,
          base64Encoded,
          hashAlgorithm,
          prehashed,
          signatureAlgorithm,
          marshaling,
          keyVersion,
          batchInput);
    }
  }
}
