// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * The backup that runs.
 *
 * @param purpose What it was begun for. May be null: absent.
 * @param stage Whether the store is still copied. May be null: absent.
 * @param target Where it goes. May be null: absent.
 * @param startedAt When it began. May be null: absent.
 * @param doneBytes Octets so far. May be null: absent.
 * @param totalBytes Octets when it is done. May be null: absent.
 */
public record BackupsRunning(
    @JsonProperty("purpose") BackupsRunningPurpose purpose,
    @JsonProperty("stage") BackupsRunningStage stage,
    @JsonProperty("target") String target,
    @JsonProperty("started-at") Instant startedAt,
    @JsonProperty("done-bytes") Long doneBytes,
    @JsonProperty("total-bytes") Long totalBytes) {
}
