// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param certificate The certificate.
 * @param chain Those of the CA and of what is above it.
 * @param serial Its serial number.
 * @param notAfter When it ends.
 */
public record CaSignCsrAnswer(
    @JsonProperty("certificate") String certificate,
    @JsonProperty("chain") String chain,
    @JsonProperty("serial") String serial,
    @JsonProperty("not-after") Instant notAfter) {
}
