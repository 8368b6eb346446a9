// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * Enrolment of devices.
 *
 * @param enabled Whether devices may enrol here; otherwise EST answers 404. May be null: absent.
 * @param initialEnrollSecret Shared secret of first enrolment, the password of HTTP Basic: 6 octets or more in
 * UTF-8, no control characters. May be null: absent.
 * @param initialEnrollTrustCa CA whose certificates devices may show for first enrolment. May be null: absent.
 * @param allowedDomains Domains that certificates may name; none: nothing is allowed. May be null: absent.
 * @param allowSubdomains Whether names below the domains are allowed. May be null: absent.
 * @param allowBareDomains Whether the domains themselves are allowed. May be null: absent.
 * @param allowIpSans Whether certificates may name IP addresses. May be null: absent.
 * @param ttl Life of issued certificates, never past the CA's own. May be null: absent.
 * @param allowReenrollWithIssuedCert Whether a device may renew with the certificate it has. May be null:
 * absent.
 */
public record TlsCaEstInput(
    @JsonProperty("enabled") Boolean enabled,
    @JsonProperty("initial-enroll-secret") String initialEnrollSecret,
    @JsonProperty("initial-enroll-trust-ca") String initialEnrollTrustCa,
    @JsonProperty("allowed-domains") List<String> allowedDomains,
    @JsonProperty("allow-subdomains") Boolean allowSubdomains,
    @JsonProperty("allow-bare-domains") Boolean allowBareDomains,
    @JsonProperty("allow-ip-sans") Boolean allowIpSans,
    @JsonProperty("ttl") String ttl,
    @JsonProperty("allow-reenroll-with-issued-cert") Boolean allowReenrollWithIssuedCert) {
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
    return "TlsCaEstInput[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private Boolean enabled;
    private String initialEnrollSecret;
    private String initialEnrollTrustCa;
    private List<String> allowedDomains;
    private Boolean allowSubdomains;
    private Boolean allowBareDomains;
    private Boolean allowIpSans;
    private String ttl;
    private Boolean allowReenrollWithIssuedCert;

    private Builder() {}

    /**
     * Whether devices may enrol here; otherwise EST answers 404.
     *
     * @param value null: absent
     * @return this
     */
    public Builder enabled(Boolean value) {
      enabled = value;
      return this;
    }

    /**
     * Shared secret of first enrolment, the password of HTTP Basic: 6 octets or more in UTF-8, no control
     * characters.
     *
     * @param value null: absent
     * @return this
     */
    public Builder initialEnrollSecret(String value) {
      initialEnrollSecret = value;
      return this;
    }

    /**
     * CA whose certificates devices may show for first enrolment.
     *
     * @param value null: absent
     * @return this
     */
    public Builder initialEnrollTrustCa(String value) {
      initialEnrollTrustCa = value;
      return this;
    }

    /**
     * Domains that certificates may name; none: nothing is allowed.
     *
     * @param value null: absent
     * @return this
     */
    public Builder allowedDomains(List<String> value) {
      allowedDomains = value;
      return this;
    }

    /**
     * Whether names below the domains are allowed.
     *
     * @param value null: absent
     * @return this
     */
    public Builder allowSubdomains(Boolean value) {
      allowSubdomains = value;
      return this;
    }

    /**
     * Whether the domains themselves are allowed.
     *
     * @param value null: absent
     * @return this
     */
    public Builder allowBareDomains(Boolean value) {
      allowBareDomains = value;
      return this;
    }

    /**
     * Whether certificates may name IP addresses.
     *
     * @param value null: absent
     * @return this
     */
    public Builder allowIpSans(Boolean value) {
      allowIpSans = value;
      return this;
    }

    /**
     * Life of issued certificates, never past the CA's own.
     *
     * @param value null: absent
     * @return this
     */
    public Builder ttl(String value) {
      ttl = value;
      return this;
    }

    /**
     * Whether a device may renew with the certificate it has.
     *
     * @param value null: absent
     * @return this
     */
    public Builder allowReenrollWithIssuedCert(Boolean value) {
      allowReenrollWithIssuedCert = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TlsCaEstInput build() {
      return new TlsCaEstInput(
          enabled,
          initialEnrollSecret,
          initialEnrollTrustCa,
          allowedDomains,
          allowSubdomains,
          allowBareDomains,
          allowIpSans,
          ttl,
          allowReenrollWithIssuedCert);
    }
  }
}
