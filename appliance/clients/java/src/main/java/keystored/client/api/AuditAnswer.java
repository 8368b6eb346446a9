// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param keys Keys that have signed the trail, the newest last.
 * @param heads The last signed position of every chain.
 */
public record AuditAnswer(
    @JsonProperty("keys") List<AuditKey> keys,
    @JsonProperty("heads") List<AuditHead> heads) {
}
