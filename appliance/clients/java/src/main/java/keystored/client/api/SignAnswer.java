// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param signature The signature.
 * @param keyVersion Version of the key that was used.
 */
public record SignAnswer(
    @JsonProperty("signature") String signature,
    @JsonProperty("key-version") Long keyVersion) {
}
