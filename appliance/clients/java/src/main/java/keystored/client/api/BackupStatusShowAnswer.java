// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param running running May be null: absent.
 * @param scheduled scheduled
 * @param nextAt next-at May be null: absent.
 * @param lastSuccessAt last-success-at May be null: absent.
 * @param lastBytes last-bytes May be null: absent.
 * @param lastSeconds last-seconds May be null: absent.
 * @param lastDigest last-digest May be null: absent.
 * @param failures failures
 * @param failuresInARow failures-in-a-row
 * @param lastFailureAt last-failure-at May be null: absent.
 * @param lastFailure last-failure May be null: absent.
 */
public record BackupStatusShowAnswer(
    @JsonProperty("running") BackupStatusShowAnswerRunning running,
    @JsonProperty("scheduled") Boolean scheduled,
    @JsonProperty("next-at") Instant nextAt,
    @JsonProperty("last-success-at") Instant lastSuccessAt,
    @JsonProperty("last-bytes") Long lastBytes,
    @JsonProperty("last-seconds") Double lastSeconds,
    @JsonProperty("last-digest") String lastDigest,
    @JsonProperty("failures") Long failures,
    @JsonProperty("failures-in-a-row") Long failuresInARow,
    @JsonProperty("last-failure-at") Instant lastFailureAt,
    @JsonProperty("last-failure") String lastFailure) {
}
