// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param valid Whether a key of the certificate made the signature over this text.
 * @param fingerprint Fingerprint of the key that signed. May be null: absent.
 * @param keyId Its key id. May be null: absent.
 * @param version Version of the transit key that signed. May be null: absent.
 * @param keyVersion The same, as every key action says it. May be null: absent.
 * @param signedAt When, as the signature says. May be null: absent.
 */
public record OpenpgpVerifyAnswer(
    @JsonProperty("valid") Boolean valid,
    @JsonProperty("fingerprint") String fingerprint,
    @JsonProperty("key-id") String keyId,
    @JsonProperty("version") Long version,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("signed-at") Instant signedAt) {
}
