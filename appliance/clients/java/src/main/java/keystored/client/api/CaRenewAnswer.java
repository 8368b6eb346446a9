// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param caCert The new certificate of the CA.
 * @param keyVersion How often it got a key.
 * @param notAfter When the certificate ends.
 */
public record CaRenewAnswer(
    @JsonProperty("ca-cert") String caCert,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("not-after") Instant notAfter) {
}
