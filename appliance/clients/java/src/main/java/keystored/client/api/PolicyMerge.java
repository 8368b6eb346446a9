// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import keystored.client.Change;

/**
 * A document of the API.
 *
 * @param description What the policy is for. May be null: absent.
 * @param restApi What may be done over this API. May be null: absent.
 */
public record PolicyMerge(
    @JsonProperty("description") String description,
    @JsonProperty("rest-api") Change<PolicyRestApiMerge> restApi) {
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
    private Change<PolicyRestApiMerge> restApi;

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
     * @param value not null
     * @return this
     */
    public Builder restApi(PolicyRestApiMerge value) {
      restApi = Change.to(value);
      return this;
    }

    /**
     * Removes what rest-api is.
     *
     * @return this
     */
    public Builder removeRestApi() {
      restApi = Change.removal();
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyMerge build() {
      return new PolicyMerge(
          description,
          restApi);
    }
  }
}
