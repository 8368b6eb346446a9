// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * The backup that runs.
 *
 * @param purpose What it was begun for.
 * @param stage Whether the store is still copied.
 * @param target Where it goes.
 * @param startedAt When it began.
 * @param doneBytes Octets so far.
 * @param totalBytes Octets when it is done.
 */
public record BackupsRunning(
    @JsonProperty("purpose") BackupsRunningPurpose purpose,
    @JsonProperty("stage") BackupsRunningStage stage,
    @JsonProperty("target") String target,
    @JsonProperty("started-at") Instant startedAt,
    @JsonProperty("done-bytes") Long doneBytes,
    @JsonProperty("total-bytes") Long totalBytes) {
}
