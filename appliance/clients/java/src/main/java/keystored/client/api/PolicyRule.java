// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param path The paths the rule is about: `*` stands for one segment, `**` at the end for any rest. May be
 * null: absent.
 * @param operations What the rule says of each operation. May be null: absent.
 * @param allowedValues Name of a field, inside containers `a/b`, to the values a request may give it. One that
 * is left out counts with its default or, where that is no value of its own, as null; so does an empty list that
 * means more than nothing. May be null: absent.
 * @param hideFields Names of fields left out of answers. May be null: absent.
 */
public record PolicyRule(
    @JsonProperty("path") String path,
    @JsonProperty("operations") PolicyOperations operations,
    @JsonProperty("allowed-values") Map<String, List<Object>> allowedValues,
    @JsonProperty("hide-fields") List<String> hideFields) {
}
