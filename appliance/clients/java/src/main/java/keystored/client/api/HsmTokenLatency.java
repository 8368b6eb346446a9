// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param count Calls that were measured. May be null: absent.
 * @param p50 Median in microseconds. May be null: absent.
 * @param p99 99th percentile in microseconds. May be null: absent.
 * @param unit Of both. May be null: absent.
 */
public record HsmTokenLatency(
    @JsonProperty("count") Long count,
    @JsonProperty("p50") Double p50,
    @JsonProperty("p99") Double p99,
    @JsonProperty("unit") HsmTokenLatencyUnit unit) {
}
