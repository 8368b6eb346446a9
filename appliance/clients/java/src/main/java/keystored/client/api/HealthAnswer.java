// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param status degraded: requests are served, and a person should act; down: some requests cannot be served.
 */
public record HealthAnswer(
    @JsonProperty("status") HealthAnswerStatus status) {
}
