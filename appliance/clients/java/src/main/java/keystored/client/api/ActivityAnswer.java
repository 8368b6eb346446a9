// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param points The oldest first. The last one ends now and may be shorter.
 * @param medianMilliseconds Median of the time of a request; absent: there was none. May be null: absent.
 * @param p99Milliseconds 99th percentile of the time of a request. May be null: absent.
 */
public record ActivityAnswer(
    @JsonProperty("points") List<ActivityPoint> points,
    @JsonProperty("median-milliseconds") Double medianMilliseconds,
    @JsonProperty("p99-milliseconds") Double p99Milliseconds) {
}
