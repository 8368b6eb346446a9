// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param purpose purpose
 * @param stage stage
 * @param target target
 * @param startedAt started-at
 * @param doneBytes done-bytes
 * @param totalBytes total-bytes
 */
public record BackupStatusShowAnswerRunning(
    @JsonProperty("purpose") BackupStatusShowAnswerRunningPurpose purpose,
    @JsonProperty("stage") BackupStatusShowAnswerRunningStage stage,
    @JsonProperty("target") String target,
    @JsonProperty("started-at") Instant startedAt,
    @JsonProperty("done-bytes") Long doneBytes,
    @JsonProperty("total-bytes") Long totalBytes) {
}
