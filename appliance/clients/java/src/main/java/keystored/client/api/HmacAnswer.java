// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param hmac The HMAC.
 * @param keyVersion Version of the key that was used.
 */
public record HmacAnswer(
    @JsonProperty("hmac") String hmac,
    @JsonProperty("key-version") Long keyVersion) {
}
