// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param description What the policy is for. May be null: absent.
 * @param restApi What may be done over this API. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 */
public record PolicyReplacement(
    @JsonProperty("description") String description,
    @JsonProperty("rest-api") PolicyRestApiInput restApi,
    @JsonProperty("labels") Map<String, String> labels) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String description;
    private PolicyRestApiInput restApi;
    private Map<String, String> labels;

    private Builder() {}

    /**
     * What the policy is for.
     *
     * @param value null: absent
     * @return this
     */
    public Builder description(String value) {
      description = value;
      return this;
    }

    /**
     * What may be done over this API.
     *
     * @param value null: absent
     * @return this
     */
    public Builder restApi(PolicyRestApiInput value) {
      restApi = value;
      return this;
    }

    /**
     * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name
     * and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
     *
     * @param value null: absent
     * @return this
     */
    public Builder labels(Map<String, String> value) {
      labels = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyReplacement build() {
      return new PolicyReplacement(
          description,
          restApi,
          labels);
    }
  }
}
