// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param subject Subject.
 * @param issuer Issuer.
 * @param notAfter When it ends.
 */
public record OidcTestCertificateChain(
    @JsonProperty("subject") String subject,
    @JsonProperty("issuer") String issuer,
    @JsonProperty("not-after") Instant notAfter) {
}
