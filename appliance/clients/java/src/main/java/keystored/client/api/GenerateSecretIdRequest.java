// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param ttl How long it can be used; at most, and unless given, as the approle says. May be null: absent.
 * @param numUses How often it can be used; at most, and unless given, as the approle says. May be null: absent.
 * @param boundCidrs Ranges of addresses it can be used from, besides those of the approle. May be null: absent.
 */
public record GenerateSecretIdRequest(
    @JsonProperty("ttl") String ttl,
    @JsonProperty("num-uses") Long numUses,
    @JsonProperty("bound-cidrs") List<String> boundCidrs) {
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
    private String ttl;
    private Long numUses;
    private List<String> boundCidrs;

    private Builder() {}

    /**
     * How long it can be used; at most, and unless given, as the approle says.
     *
     * @param value null: absent
     * @return this
     */
    public Builder ttl(String value) {
      ttl = value;
      return this;
    }

    /**
     * How often it can be used; at most, and unless given, as the approle says.
     *
     * @param value null: absent
     * @return this
     */
    public Builder numUses(Long value) {
      numUses = value;
      return this;
    }

    /**
     * Ranges of addresses it can be used from, besides those of the approle.
     *
     * @param value null: absent
     * @return this
     */
    public Builder boundCidrs(List<String> value) {
      boundCidrs = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public GenerateSecretIdRequest build() {
      return new GenerateSecretIdRequest(
          ttl,
          numUses,
          boundCidrs);
    }
  }
}
