// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param keys One item with the block asked for.
 * @param keyVersion Version in the answer; of several the newest.
 */
public record ExportOpenpgpPublicAnswer(
    @JsonProperty("keys") List<ExportOpenpgpPublicKey> keys,
    @JsonProperty("key-version") Long keyVersion) {
}
