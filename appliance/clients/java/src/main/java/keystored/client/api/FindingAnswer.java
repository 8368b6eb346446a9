// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param name Name of the finding, and of its part of health.
 * @param message What was found. May be null: absent.
 * @param remedy What to do, before the answer. May be null: absent.
 * @param found When. May be null: absent.
 * @param state `unanswered`: a part of health, which is not `ok`. May be null: absent.
 * @param answered When it was answered. May be null: absent.
 * @param answeredBy Who has answered it. May be null: absent.
 */
public record FindingAnswer(
    @JsonProperty("name") String name,
    @JsonProperty("message") String message,
    @JsonProperty("remedy") String remedy,
    @JsonProperty("found") String found,
    @JsonProperty("state") FindingState state,
    @JsonProperty("answered") String answered,
    @JsonProperty("answered-by") String answeredBy) {
}
