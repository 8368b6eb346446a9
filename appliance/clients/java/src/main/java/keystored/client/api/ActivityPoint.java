// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param from When it begins.
 * @param until When it ends.
 * @param requests Requests of the API and of EST a second; a batch is one.
 * @param signatures Requests that signed something a second; a batch is one.
 * @param encryptions Requests that encrypted, decrypted or rewrapped a second; a batch is one.
 * @param refusals Requests that were answered with 4xx or 5xx a second; a batch is one.
 * @param medianMilliseconds Median of the time of a request; absent: there was none. May be null: absent.
 * @param p99Milliseconds 99th percentile of the time of a request. May be null: absent.
 */
public record ActivityPoint(
    @JsonProperty("from") Instant from,
    @JsonProperty("until") Instant until,
    @JsonProperty("requests") Double requests,
    @JsonProperty("signatures") Double signatures,
    @JsonProperty("encryptions") Double encryptions,
    @JsonProperty("refusals") Double refusals,
    @JsonProperty("median-milliseconds") Double medianMilliseconds,
    @JsonProperty("p99-milliseconds") Double p99Milliseconds) {
}
