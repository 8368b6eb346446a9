// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What the rule says of each operation.
 *
 * @param all Whether anything may be done that no other field here says. May be null: absent.
 * @param create Whether entries may be made. May be null: absent.
 * @param read Whether it may be read. May be null: absent.
 * @param update Whether entries may be changed. May be null: absent.
 * @param delete Whether entries may be deleted. May be null: absent.
 * @param execute Whether actions may be run. May be null: absent.
 */
public record PolicyOperations(
    @JsonProperty("all") PolicyEffect all,
    @JsonProperty("create") PolicyEffect create,
    @JsonProperty("read") PolicyEffect read,
    @JsonProperty("update") PolicyEffect update,
    @JsonProperty("delete") PolicyEffect delete,
    @JsonProperty("execute") PolicyEffect execute) {
}
