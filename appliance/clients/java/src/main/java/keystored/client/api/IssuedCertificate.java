// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;

/**
 * A document of the API.
 *
 * @param serial Serial number.
 * @param subject Subject. May be null: absent.
 * @param names Subject alternative names. May be null: absent.
 * @param notBefore When it begins. May be null: absent.
 * @param notAfter When it ends. May be null: absent.
 * @param via How it came about. May be null: absent.
 * @param keyVersion Key of the CA that signed it. May be null: absent.
 * @param status What it is worth now. May be null: absent.
 * @param line Serial number of the first certificate of its line, when it renewed one. May be null: absent.
 * @param revokedAt When it was revoked. May be null: absent.
 * @param revocationReason Why it was revoked. May be null: absent.
 * @param certificate The certificate; only where one is asked for. May be null: absent.
 */
public record IssuedCertificate(
    @JsonProperty("serial") String serial,
    @JsonProperty("subject") String subject,
    @JsonProperty("names") List<String> names,
    @JsonProperty("not-before") Instant notBefore,
    @JsonProperty("not-after") Instant notAfter,
    @JsonProperty("via") String via,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("status") CertificateStatus status,
    @JsonProperty("line") String line,
    @JsonProperty("revoked-at") Instant revokedAt,
    @JsonProperty("revocation-reason") String revocationReason,
    @JsonProperty("certificate") String certificate) {
}
