// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param ciphertext The ciphertext under the other version.
 * @param keyVersion Version of the key that was used.
 */
public record RewrapAnswer(
    @JsonProperty("ciphertext") String ciphertext,
    @JsonProperty("key-version") Long keyVersion) {
}
