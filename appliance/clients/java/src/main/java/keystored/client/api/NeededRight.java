// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param field The field.
 * @param operation What must be allowed.
 * @param path And where: `&#123;}` stands for the name in the field.
 */
public record NeededRight(
    @JsonProperty("field") String field,
    @JsonProperty("operation") PolicyCheckRequestOperation operation,
    @JsonProperty("path") String path) {
}
