// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param name Name of the approle.
 * @param tokenPolicies Policies of the tokens; only such as the caller has. May be null: absent.
 * @param tokenTtl Life of a token, and what a refresh gives it. May be null: absent.
 * @param tokenMaxTtl Longest life of a token over all refreshes. May be null: absent.
 * @param tokenBoundCidrs Ranges of addresses the tokens work from; empty: from anywhere. May be null: absent.
 * @param secretIdTtl How long a secret-id can be used; unless given, for ever. May be null: absent.
 * @param secretIdNumUses How often a secret-id can be used; 0: as often as one likes. May be null: absent.
 * @param secretIdBoundCidrs Ranges of addresses one may log in from; empty: from anywhere. May be null: absent.
 * @param fixedRoleId A role-id of your own choice; unless given, one is made. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 */
public record ApproleCreation(
    @JsonProperty("name") String name,
    @JsonProperty("token-policies") List<String> tokenPolicies,
    @JsonProperty("token-ttl") String tokenTtl,
    @JsonProperty("token-max-ttl") String tokenMaxTtl,
    @JsonProperty("token-bound-cidrs") List<String> tokenBoundCidrs,
    @JsonProperty("secret-id-ttl") String secretIdTtl,
    @JsonProperty("secret-id-num-uses") Long secretIdNumUses,
    @JsonProperty("secret-id-bound-cidrs") List<String> secretIdBoundCidrs,
    @JsonProperty("fixed-role-id") String fixedRoleId,
    @JsonProperty("labels") Map<String, String> labels) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param name Name of the approle.
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
    private List<String> tokenPolicies;
    private String tokenTtl;
    private String tokenMaxTtl;
    private List<String> tokenBoundCidrs;
    private String secretIdTtl;
    private Long secretIdNumUses;
    private List<String> secretIdBoundCidrs;
    private String fixedRoleId;
    private Map<String, String> labels;

    private Builder() {}

    /**
     * Policies of the tokens; only such as the caller has.
     *
     * @param value null: absent
     * @return this
     */
    public Builder tokenPolicies(List<String> value) {
      tokenPolicies = value;
      return this;
    }

    /**
     * Life of a token, and what a refresh gives it.
     *
     * @param value null: absent
     * @return this
     */
    public Builder tokenTtl(String value) {
      tokenTtl = value;
      return this;
    }

    /**
     * Longest life of a token over all refreshes.
     *
     * @param value null: absent
     * @return this
     */
    public Builder tokenMaxTtl(String value) {
      tokenMaxTtl = value;
      return this;
    }

    /**
     * Ranges of addresses the tokens work from; empty: from anywhere.
     *
     * @param value null: absent
     * @return this
     */
    public Builder tokenBoundCidrs(List<String> value) {
      tokenBoundCidrs = value;
      return this;
    }

    /**
     * How long a secret-id can be used; unless given, for ever.
     *
     * @param value null: absent
     * @return this
     */
    public Builder secretIdTtl(String value) {
      secretIdTtl = value;
      return this;
    }

    /**
     * How often a secret-id can be used; 0: as often as one likes.
     *
     * @param value null: absent
     * @return this
     */
    public Builder secretIdNumUses(Long value) {
      secretIdNumUses = value;
      return this;
    }

    /**
     * Ranges of addresses one may log in from; empty: from anywhere.
     *
     * @param value null: absent
     * @return this
     */
    public Builder secretIdBoundCidrs(List<String> value) {
      secretIdBoundCidrs = value;
      return this;
    }

    /**
     * A role-id of your own choice; unless given, one is made.
     *
     * @param value null: absent
     * @return this
     */
    public Builder fixedRoleId(String value) {
      fixedRoleId = value;
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
    public ApproleCreation build() {
      return new ApproleCreation(
          name,
          tokenPolicies,
          tokenTtl,
          tokenMaxTtl,
          tokenBoundCidrs,
          secretIdTtl,
          secretIdNumUses,
          secretIdBoundCidrs,
          fixedRoleId,
          labels);
    }
  }
}
