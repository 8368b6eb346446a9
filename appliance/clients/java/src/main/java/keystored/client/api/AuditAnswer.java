// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param keys Keys that have signed the trail, the newest last. May be null: absent.
 * @param heads The last signed position of every chain. May be null: absent.
 */
public record AuditAnswer(
    @JsonProperty("keys") List<AuditKey> keys,
    @JsonProperty("heads") List<AuditHead> heads) {
}
