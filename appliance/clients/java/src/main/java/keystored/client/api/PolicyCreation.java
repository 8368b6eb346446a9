// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param name Name of the policy.
 * @param description What the policy is for. May be null: absent.
 * @param restApi What may be done over this API. May be null: absent.
 */
public record PolicyCreation(
    @JsonProperty("name") String name,
    @JsonProperty("description") String description,
    @JsonProperty("rest-api") PolicyRestApiInput restApi) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param name Name of the policy.
   * @return a builder
   */
  public static Builder builder(String name) {
    Builder builder = new Builder();
    builder.name = name;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String name;
    private String description;
    private PolicyRestApiInput restApi;

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
     * Makes the document.
     *
     * @return the document
     */
    public PolicyCreation build() {
      return new PolicyCreation(
          name,
          description,
          restApi);
    }
  }
}
