// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * One thing that is wrong with a request.
 *
 * @param errorMessage What is wrong.
 * @param errorInfo Where: the path of the field. May be null: absent.
 */
public record ProblemItem(
    @JsonProperty("error-message") String errorMessage,
    @JsonProperty("error-info") String errorInfo) {
}
