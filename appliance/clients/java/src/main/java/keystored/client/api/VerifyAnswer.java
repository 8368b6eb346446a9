// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param valid Whether signature or HMAC fit the text.
 * @param keyVersion Version of the key that was used.
 */
public record VerifyAnswer(
    @JsonProperty("valid") Boolean valid,
    @JsonProperty("key-version") Long keyVersion) {
}
