// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param policies Policies of the caller; unless given, all of them. May be null: absent.
 * @param ttl Its life, and what a refresh gives; default 1d. May be null: absent.
 * @param maxTtl Its longest life over all refreshes; default 32d. May be null: absent.
 * @param boundCidrs Ranges of addresses it works from; default: from anywhere. May be null: absent.
 */
public record TokenCreateRequest(
    @JsonProperty("policies") List<String> policies,
    @JsonProperty("ttl") String ttl,
    @JsonProperty("max-ttl") String maxTtl,
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
    private List<String> policies;
    private String ttl;
    private String maxTtl;
    private List<String> boundCidrs;

    private Builder() {}

    /**
     * Policies of the caller; unless given, all of them.
     *
     * @param value null: absent
     * @return this
     */
    public Builder policies(List<String> value) {
      policies = value;
      return this;
    }

    /**
     * Its life, and what a refresh gives; default 1d.
     *
     * @param value null: absent
     * @return this
     */
    public Builder ttl(String value) {
      ttl = value;
      return this;
    }

    /**
     * Its longest life over all refreshes; default 32d.
     *
     * @param value null: absent
     * @return this
     */
    public Builder maxTtl(String value) {
      maxTtl = value;
      return this;
    }

    /**
     * Ranges of addresses it works from; default: from anywhere.
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
    public TokenCreateRequest build() {
      return new TokenCreateRequest(
          policies,
          ttl,
          maxTtl,
          boundCidrs);
    }
  }
}
