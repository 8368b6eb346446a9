// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param running The backup that runs. May be null: absent.
 * @param scheduled Whether the configuration has a schedule.
 * @param nextAt When the next one begins. May be null: absent.
 * @param lastSuccessAt When the last one was complete. May be null: absent.
 * @param lastBytes Its octets. May be null: absent.
 * @param lastSeconds How long it took. May be null: absent.
 * @param lastDigest Its SHA-256. May be null: absent.
 * @param failures How many failed.
 * @param failuresInARow How many failed since the last complete one.
 * @param lastFailureAt When the last failure was. May be null: absent.
 * @param lastFailure What it was. May be null: absent.
 */
public record BackupsAnswer(
    @JsonProperty("running") BackupsRunning running,
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
