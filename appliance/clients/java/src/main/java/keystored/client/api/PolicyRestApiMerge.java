// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import keystored.client.Change;

/**
 * A document of the API.
 *
 * @param rules The most exact rule for a path decides; without one it is refused. May be null: absent.
 */
public record PolicyRestApiMerge(
    @JsonProperty("rules") Change<List<PolicyRuleMerge>> rules) {
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
    private Change<List<PolicyRuleMerge>> rules;

    private Builder() {}

    /**
     * The most exact rule for a path decides; without one it is refused.
     *
     * @param value not null
     * @return this
     */
    public Builder rules(List<PolicyRuleMerge> value) {
      rules = Change.to(value);
      return this;
    }

    /**
     * Removes what rules is.
     *
     * @return this
     */
    public Builder removeRules() {
      rules = Change.removal();
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyRestApiMerge build() {
      return new PolicyRestApiMerge(
          rules);
    }
  }
}
