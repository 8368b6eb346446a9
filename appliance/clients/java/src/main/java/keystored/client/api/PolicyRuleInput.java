// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param path The paths the rule is about: `*` stands for one segment, `**` at the end for any rest.
 * @param operations What the rule says of each operation.
 * @param allowedValues Name of a field, inside containers `a/b`, to the values a request may give it. One that
 * is left out counts with its default or, where that is no value of its own, as null; so does an empty list that
 * means more than nothing. May be null: absent.
 * @param hideFields Names of fields left out of answers. May be null: absent.
 */
public record PolicyRuleInput(
    @JsonProperty("path") String path,
    @JsonProperty("operations") PolicyOperationsInput operations,
    @JsonProperty("allowed-values") Map<String, List<Object>> allowedValues,
    @JsonProperty("hide-fields") List<String> hideFields) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param path The paths the rule is about: `*` stands for one segment, `**` at the end for any rest.
   * @param operations What the rule says of each operation.
   * @return a builder
   */
  public static Builder builder(String path, PolicyOperationsInput operations) {
    Builder builder = new Builder();
    builder.path = path;
    builder.operations = operations;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String path;
    private PolicyOperationsInput operations;
    private Map<String, List<Object>> allowedValues;
    private List<String> hideFields;

    private Builder() {}

    /**
     * Name of a field, inside containers `a/b`, to the values a request may give it. One that is left out counts
     * with its default or, where that is no value of its own, as null; so does an empty list that means more
     * than nothing.
     *
     * @param value null: absent
     * @return this
     */
    public Builder allowedValues(Map<String, List<Object>> value) {
      allowedValues = value;
      return this;
    }

    /**
     * Names of fields left out of answers.
     *
     * @param value null: absent
     * @return this
     */
    public Builder hideFields(List<String> value) {
      hideFields = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyRuleInput build() {
      return new PolicyRuleInput(
          path,
          operations,
          allowedValues,
          hideFields);
    }
  }
}
