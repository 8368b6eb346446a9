// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * The last failure, also when the receiver takes records again.
 *
 * @param occurredAt When it failed. May be null: absent.
 * @param message What failed, and the fix. May be null: absent.
 */
public record ShippingLastError(
    @JsonProperty("occurred-at") Instant occurredAt,
    @JsonProperty("message") String message) {
}
