// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;
import keystored.client.Change;

/**
 * A document of the API.
 *
 * @param requiredClaims Claims without which the role is not given; nested ones as JSON pointers, such as
 * /address/country. May be null: absent.
 * @param claimMappings Claim to what it tells of the user; a nested claim as a JSON pointer. May be null:
 * absent.
 * @param oidcScopes Scopes asked for, besides openid. May be null: absent.
 * @param tokenPolicies Policies the sign-in gets. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 */
public record OidcRoleMerge(
    @JsonProperty("required-claims") Change<List<String>> requiredClaims,
    @JsonProperty("claim-mappings") Change<Map<String, ClaimTarget>> claimMappings,
    @JsonProperty("oidc-scopes") Change<List<String>> oidcScopes,
    @JsonProperty("token-policies") Change<List<String>> tokenPolicies,
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
    private Change<List<String>> requiredClaims;
    private Change<Map<String, ClaimTarget>> claimMappings;
    private Change<List<String>> oidcScopes;
    private Change<List<String>> tokenPolicies;
    private Change<Map<String, String>> labels;

    private Builder() {}

    /**
     * Claims without which the role is not given; nested ones as JSON pointers, such as /address/country.
     *
     * @param value not null
     * @return this
     */
    public Builder requiredClaims(List<String> value) {
      requiredClaims = Change.to(value);
      return this;
    }

    /**
     * Removes what required-claims is.
     *
     * @return this
     */
    public Builder removeRequiredClaims() {
      requiredClaims = Change.removal();
      return this;
    }

    /**
     * Claim to what it tells of the user; a nested claim as a JSON pointer.
     *
     * @param value not null
     * @return this
     */
    public Builder claimMappings(Map<String, ClaimTarget> value) {
      claimMappings = Change.to(value);
      return this;
    }

    /**
     * Removes what claim-mappings is.
     *
     * @return this
     */
    public Builder removeClaimMappings() {
      claimMappings = Change.removal();
      return this;
    }

    /**
     * Scopes asked for, besides openid.
     *
     * @param value not null
     * @return this
     */
    public Builder oidcScopes(List<String> value) {
      oidcScopes = Change.to(value);
      return this;
    }

    /**
     * Removes what oidc-scopes is.
     *
     * @return this
     */
    public Builder removeOidcScopes() {
      oidcScopes = Change.removal();
      return this;
    }

    /**
     * Policies the sign-in gets.
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
    public OidcRoleMerge build() {
      return new OidcRoleMerge(
          requiredClaims,
          claimMappings,
          oidcScopes,
          tokenPolicies,
          labels);
    }
  }
}
