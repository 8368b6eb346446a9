// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param count Calls that were measured.
 * @param p50 Median in microseconds.
 * @param p99 99th percentile in microseconds.
 * @param unit Of both.
 */
public record HsmTokenLatency(
    @JsonProperty("count") Long count,
    @JsonProperty("p50") Double p50,
    @JsonProperty("p99") Double p99,
    @JsonProperty("unit") HsmTokenLatencyUnit unit) {
}
