// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What may be done over this API.
 *
 * @param rules The most exact rule for a path decides; without one it is refused. May be null: absent.
 */
public record PolicyRestApiInput(
    @JsonProperty("rules") List<PolicyRuleInput> rules) {
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
    private List<PolicyRuleInput> rules;

    private Builder() {}

    /**
     * The most exact rule for a path decides; without one it is refused.
     *
     * @param value null: absent
     * @return this
     */
    public Builder rules(List<PolicyRuleInput> value) {
      rules = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyRestApiInput build() {
      return new PolicyRestApiInput(
          rules);
    }
  }
}
