// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;
import keystored.client.Change;

/**
 * A document of the API.
 *
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
public record ApproleMerge(
    @JsonProperty("token-policies") Change<List<String>> tokenPolicies,
    @JsonProperty("token-ttl") String tokenTtl,
    @JsonProperty("token-max-ttl") String tokenMaxTtl,
    @JsonProperty("token-bound-cidrs") Change<List<String>> tokenBoundCidrs,
    @JsonProperty("secret-id-ttl") Change<String> secretIdTtl,
    @JsonProperty("secret-id-num-uses") Long secretIdNumUses,
    @JsonProperty("secret-id-bound-cidrs") Change<List<String>> secretIdBoundCidrs,
    @JsonProperty("fixed-role-id") Change<String> fixedRoleId,
    @JsonProperty("labels") Change<Map<String, String>> labels) {
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
    private Change<List<String>> tokenPolicies;
    private String tokenTtl;
    private String tokenMaxTtl;
    private Change<List<String>> tokenBoundCidrs;
    private Change<String> secretIdTtl;
    private Long secretIdNumUses;
    private Change<List<String>> secretIdBoundCidrs;
    private Change<String> fixedRoleId;
    private Change<Map<String, String>> labels;

    private Builder() {}

    /**
     * Policies of the tokens; only such as the caller has.
     *
     * @param value not null
     * @return this
     */
    public Builder tokenPolicies(List<String> value) {
      tokenPolicies = Change.to(value);
      return this;
    }

    /**
     * Removes what token-policies is.
     *
     * @return this
     */
    public Builder removeTokenPolicies() {
      tokenPolicies = Change.removal();
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
     * @param value not null
     * @return this
     */
    public Builder tokenBoundCidrs(List<String> value) {
      tokenBoundCidrs = Change.to(value);
      return this;
    }

    /**
     * Removes what token-bound-cidrs is.
     *
     * @return this
     */
    public Builder removeTokenBoundCidrs() {
      tokenBoundCidrs = Change.removal();
      return this;
    }

    /**
     * How long a secret-id can be used; unless given, for ever.
     *
     * @param value not null
     * @return this
     */
    public Builder secretIdTtl(String value) {
      secretIdTtl = Change.to(value);
      return this;
    }

    /**
     * Removes what secret-id-ttl is.
     *
     * @return this
     */
    public Builder removeSecretIdTtl() {
      secretIdTtl = Change.removal();
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
     * @param value not null
     * @return this
     */
    public Builder secretIdBoundCidrs(List<String> value) {
      secretIdBoundCidrs = Change.to(value);
      return this;
    }

    /**
     * Removes what secret-id-bound-cidrs is.
     *
     * @return this
     */
    public Builder removeSecretIdBoundCidrs() {
      secretIdBoundCidrs = Change.removal();
      return this;
    }

    /**
     * A role-id of your own choice; unless given, one is made.
     *
     * @param value not null
     * @return this
     */
    public Builder fixedRoleId(String value) {
      fixedRoleId = Change.to(value);
      return this;
    }

    /**
     * Removes what fixed-role-id is.
     *
     * @return this
     */
    public Builder removeFixedRoleId() {
      fixedRoleId = Change.removal();
      return this;
    }

    /**
     * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name
     * and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
     *
     * @param value not null
     * @return this
     */
    public Builder labels(Map<String, String> value) {
      labels = Change.to(value);
      return this;
    }

    /**
     * Removes what labels is.
     *
     * @return this
     */
    public Builder removeLabels() {
      labels = Change.removal();
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ApproleMerge build() {
      return new ApproleMerge(
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
