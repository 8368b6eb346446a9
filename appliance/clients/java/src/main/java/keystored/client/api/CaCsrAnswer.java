// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param csr PKCS#10 certification request, PEM.
 */
public record CaCsrAnswer(
    @JsonProperty("csr") String csr) {
}
