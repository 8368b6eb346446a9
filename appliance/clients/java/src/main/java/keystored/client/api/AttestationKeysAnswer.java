// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param keys The newest last, which signs. The former ones verify what they signed; their private keys are
 * destroyed.
 */
public record AttestationKeysAnswer(
    @JsonProperty("keys") List<AttestationKey> keys) {
}
