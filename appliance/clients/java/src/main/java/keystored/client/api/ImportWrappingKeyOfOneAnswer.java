// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param wrappingKey SubjectPublicKeyInfo PEM, RSA-4096.
 * @param importId Given with the import.
 * @param expires When it ends, used or not.
 */
public record ImportWrappingKeyOfOneAnswer(
    @JsonProperty("wrapping-key") String wrappingKey,
    @JsonProperty("import-id") String importId,
    @JsonProperty("expires") Instant expires) {
}
