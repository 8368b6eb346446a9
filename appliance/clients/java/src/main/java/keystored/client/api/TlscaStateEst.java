// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What devices need to know.
 *
 * @param enabled Whether devices may enrol here; otherwise EST answers 404.
 * @param initialEnrollTrustCa CA whose certificates devices may show for first enrolment. May be null: absent.
 * @param allowedDomains Domains that certificates may name; none: nothing is allowed.
 * @param allowSubdomains Whether names below the domains are allowed.
 * @param allowBareDomains Whether the domains themselves are allowed.
 * @param allowIpSans Whether certificates may name IP addresses.
 * @param ttl Life of issued certificates, never past the CA's own.
 * @param allowReenrollWithIssuedCert Whether a device may renew with the certificate it has.
 * @param httpsUrl Base URLs for devices, by host name and by address.
 * @param initialEnrollSecretSet Whether the secret is set; its value is never answered.
 */
public record TlscaStateEst(
    @JsonProperty("enabled") Boolean enabled,
    @JsonProperty("initial-enroll-trust-ca") String initialEnrollTrustCa,
    @JsonProperty("allowed-domains") List<String> allowedDomains,
    @JsonProperty("allow-subdomains") Boolean allowSubdomains,
    @JsonProperty("allow-bare-domains") Boolean allowBareDomains,
    @JsonProperty("allow-ip-sans") Boolean allowIpSans,
    @JsonProperty("ttl") String ttl,
    @JsonProperty("allow-reenroll-with-issued-cert") Boolean allowReenrollWithIssuedCert,
    @JsonProperty("https-url") List<String> httpsUrl,
    @JsonProperty("initial-enroll-secret-set") Boolean initialEnrollSecretSet) {
}
