// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
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
 * @param caCert Certificate of the CA. May be null: absent.
 * @param deletionAllowed Must be true before the CA can be deleted while certificates of it are valid. May be
 * null: absent.
 * @param est What devices need to know. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 * @param uuid Identifies the CA permanently, whatever its name. May be null: absent.
 * @param creationTime When it was made. May be null: absent.
 * @param trustOnly Whether it is only trusted. May be null: absent.
 * @param chain Certificates above it, up to the root. May be null: absent.
 * @param serial Serial number of its certificate. May be null: absent.
 * @param notBefore When its certificate begins. May be null: absent.
 * @param notAfter When its certificate ends. May be null: absent.
 * @param keyVersion How often it got a key; counted on from a deleted CA of the same name whose last revocation
 * list is kept. May be null: absent.
 * @param crlUrl Where its revocation list is. May be null: absent.
 * @param ocspUrl Where its OCSP responder is. May be null: absent.
 */
public record TlsCaState(
    @JsonProperty("name") String name,
    @JsonProperty("cert-key-type") CertKeyType certKeyType,
    @JsonProperty("cert-key-curve") CertKeyCurve certKeyCurve,
    @JsonProperty("cert-key-bits") CertKeyBits certKeyBits,
    @JsonProperty("subject") String subject,
    @JsonProperty("ttl") String ttl,
    @JsonProperty("issuing-ca") String issuingCa,
    @JsonProperty("ca-cert") String caCert,
    @JsonProperty("deletion-allowed") Boolean deletionAllowed,
    @JsonProperty("est") TlsCaEstState est,
    @JsonProperty("labels") Map<String, String> labels,
    @JsonProperty("uuid") String uuid,
    @JsonProperty("creation-time") Instant creationTime,
    @JsonProperty("trust-only") Boolean trustOnly,
    @JsonProperty("chain") String chain,
    @JsonProperty("serial") String serial,
    @JsonProperty("not-before") Instant notBefore,
    @JsonProperty("not-after") Instant notAfter,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("crl-url") String crlUrl,
    @JsonProperty("ocsp-url") String ocspUrl) {
}
