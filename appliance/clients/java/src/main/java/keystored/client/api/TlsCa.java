// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param name Name of the TLS CA.
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
public record TlsCa(
    @JsonProperty("name") String name,
    @JsonProperty("cert-key-type") CertKeyType certKeyType,
    @JsonProperty("cert-key-curve") CertKeyCurve certKeyCurve,
    @JsonProperty("cert-key-bits") CertKeyBits certKeyBits,
    @JsonProperty("subject") String subject,
    @JsonProperty("ttl") String ttl,
    @JsonProperty("issuing-ca") String issuingCa,
    @JsonProperty("ca-cert") String caCert,
    @JsonProperty("deletion-allowed") Boolean deletionAllowed,
    @JsonProperty("est") TlsCaEst est,
    @JsonProperty("labels") Map<String, String> labels) {
}
