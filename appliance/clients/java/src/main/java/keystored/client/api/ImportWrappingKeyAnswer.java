// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param wrappingKey SubjectPublicKeyInfo PEM, RSA-4096.
 */
public record ImportWrappingKeyAnswer(
    @JsonProperty("wrapping-key") String wrappingKey) {
}
