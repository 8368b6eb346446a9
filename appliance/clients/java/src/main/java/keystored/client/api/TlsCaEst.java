// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * Enrolment of devices.
 *
 * @param enabled Whether devices may enrol here; otherwise EST answers 404. May be null: absent.
 * @param initialEnrollTrustCa CA whose certificates devices may show for first enrolment. May be null: absent.
 * @param allowedDomains Domains that certificates may name; none: nothing is allowed. May be null: absent.
 * @param allowSubdomains Whether names below the domains are allowed. May be null: absent.
 * @param allowBareDomains Whether the domains themselves are allowed. May be null: absent.
 * @param allowIpSans Whether certificates may name IP addresses. May be null: absent.
 * @param ttl Life of issued certificates, never past the CA's own. May be null: absent.
 * @param allowReenrollWithIssuedCert Whether a device may renew with the certificate it has. May be null:
 * absent.
 */
public record TlsCaEst(
    @JsonProperty("enabled") Boolean enabled,
    @JsonProperty("initial-enroll-trust-ca") String initialEnrollTrustCa,
    @JsonProperty("allowed-domains") List<String> allowedDomains,
    @JsonProperty("allow-subdomains") Boolean allowSubdomains,
    @JsonProperty("allow-bare-domains") Boolean allowBareDomains,
    @JsonProperty("allow-ip-sans") Boolean allowIpSans,
    @JsonProperty("ttl") String ttl,
    @JsonProperty("allow-reenroll-with-issued-cert") Boolean allowReenrollWithIssuedCert) {
}
