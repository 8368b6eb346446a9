// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Map;
import keystored.client.Change;

/**
 * A document of the API.
 *
 * @param certKeyType Key of the CA; default ecdsa. May be null: absent.
 * @param certKeyCurve Curve of an ecdsa key; default secp256r1. May be null: absent.
 * @param certKeyBits Size of an rsa key; default 3072. May be null: absent.
 * @param subject Subject of the CA certificate; default CN=&lt;name&gt;. May be null: absent.
 * @param ttl Life of the CA certificate. May be null: absent.
 * @param issuingCa CA here that signs this one; without it the CA is a root. May be null: absent.
 * @param caCert Certificate of a CA elsewhere: this one is then only trusted, and issues nothing. May be null:
 * absent.
 * @param deletionAllowed Must be true before the CA can be deleted while certificates of it are valid. May be
 * null: absent.
 * @param est Enrolment of devices. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 */
public record TlsCaMerge(
    @JsonProperty("cert-key-type") CertKeyType certKeyType,
    @JsonProperty("cert-key-curve") CertKeyCurve certKeyCurve,
    @JsonProperty("cert-key-bits") CertKeyBits certKeyBits,
    @JsonProperty("subject") String subject,
    @JsonProperty("ttl") String ttl,
    @JsonProperty("issuing-ca") String issuingCa,
    @JsonProperty("ca-cert") Change<String> caCert,
    @JsonProperty("deletion-allowed") Boolean deletionAllowed,
    @JsonProperty("est") Change<TlsCaEstMerge> est,
    @JsonProperty("labels") Change<Map<String, String>> labels) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private CertKeyType certKeyType;
    private CertKeyCurve certKeyCurve;
    private CertKeyBits certKeyBits;
    private String subject;
    private String ttl;
    private String issuingCa;
    private Change<String> caCert;
    private Boolean deletionAllowed;
    private Change<TlsCaEstMerge> est;
    private Change<Map<String, String>> labels;

    private Builder() {}

    /**
     * Key of the CA; default ecdsa.
     *
     * @param value null: absent
     * @return this
     */
    public Builder certKeyType(CertKeyType value) {
      certKeyType = value;
      return this;
    }

    /**
     * Curve of an ecdsa key; default secp256r1.
     *
     * @param value null: absent
     * @return this
     */
    public Builder certKeyCurve(CertKeyCurve value) {
      certKeyCurve = value;
      return this;
    }

    /**
     * Size of an rsa key; default 3072.
     *
     * @param value null: absent
     * @return this
     */
    public Builder certKeyBits(CertKeyBits value) {
      certKeyBits = value;
      return this;
    }

    /**
     * Subject of the CA certificate; default CN=&lt;name&gt;.
     *
     * @param value null: absent
     * @return this
     */
    public Builder subject(String value) {
      subject = value;
      return this;
    }

    /**
     * Life of the CA certificate.
     *
     * @param value null: absent
     * @return this
     */
    public Builder ttl(String value) {
      ttl = value;
      return this;
    }

    /**
     * CA here that signs this one; without it the CA is a root.
     *
     * @param value null: absent
     * @return this
     */
    public Builder issuingCa(String value) {
      issuingCa = value;
      return this;
    }

    /**
     * Certificate of a CA elsewhere: this one is then only trusted, and issues nothing.
     *
     * @param value not null
     * @return this
     */
    public Builder caCert(String value) {
      caCert = Change.to(value);
      return this;
    }

    /**
     * Removes what ca-cert is.
     *
     * @return this
     */
    public Builder removeCaCert() {
      caCert = Change.removal();
      return this;
    }

    /**
     * Must be true before the CA can be deleted while certificates of it are valid.
     *
     * @param value null: absent
     * @return this
     */
    public Builder deletionAllowed(Boolean value) {
      deletionAllowed = value;
      return this;
    }

    /**
     * Enrolment of devices.
     *
     * @param value not null
     * @return this
     */
    public Builder est(TlsCaEstMerge value) {
      est = Change.to(value);
      return this;
    }

    /**
     * Removes what est is.
     *
     * @return this
     */
    public Builder removeEst() {
      est = Change.removal();
      return this;
    }

    /**
     * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name
     * and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
     *
     * @param value not null
     * @return this
     */
    public Builder labels(Map<String, String> value) {
      labels = Change.to(value);
      return this;
    }

    /**
     * Removes what labels is.
     *
     * @return this
     */
    public Builder removeLabels() {
      labels = Change.removal();
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TlsCaMerge build() {
      return new TlsCaMerge(
          certKeyType,
          certKeyCurve,
          certKeyBits,
          subject,
          ttl,
          issuingCa,
          caCert,
          deletionAllowed,
          est,
          labels);
    }
  }
}
