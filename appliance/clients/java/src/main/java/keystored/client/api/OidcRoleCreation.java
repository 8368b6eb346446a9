// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param name Name of the OIDC role.
 * @param requiredClaims Claims without which the role is not given; nested ones as JSON pointers, such as
 * /address/country. May be null: absent.
 * @param claimMappings Claim to what it tells of the user; a nested claim as a JSON pointer. May be null:
 * absent.
 * @param oidcScopes Scopes asked for, besides openid. May be null: absent.
 * @param tokenPolicies Policies the sign-in gets. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 */
public record OidcRoleCreation(
    @JsonProperty("name") String name,
    @JsonProperty("required-claims") List<String> requiredClaims,
    @JsonProperty("claim-mappings") Map<String, ClaimTarget> claimMappings,
    @JsonProperty("oidc-scopes") List<String> oidcScopes,
    @JsonProperty("token-policies") List<String> tokenPolicies,
    @JsonProperty("labels") Map<String, String> labels) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param name Name of the OIDC role.
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
    private List<String> requiredClaims;
    private Map<String, ClaimTarget> claimMappings;
    private List<String> oidcScopes;
    private List<String> tokenPolicies;
    private Map<String, String> labels;

    private Builder() {}

    /**
     * Claims without which the role is not given; nested ones as JSON pointers, such as /address/country.
     *
     * @param value null: absent
     * @return this
     */
    public Builder requiredClaims(List<String> value) {
      requiredClaims = value;
      return this;
    }

    /**
     * Claim to what it tells of the user; a nested claim as a JSON pointer.
     *
     * @param value null: absent
     * @return this
     */
    public Builder claimMappings(Map<String, ClaimTarget> value) {
      claimMappings = value;
      return this;
    }

    /**
     * Scopes asked for, besides openid.
     *
     * @param value null: absent
     * @return this
     */
    public Builder oidcScopes(List<String> value) {
      oidcScopes = value;
      return this;
    }

    /**
     * Policies the sign-in gets.
     *
     * @param value null: absent
     * @return this
     */
    public Builder tokenPolicies(List<String> value) {
      tokenPolicies = value;
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
    public OidcRoleCreation build() {
      return new OidcRoleCreation(
          name,
          requiredClaims,
          claimMappings,
          oidcScopes,
          tokenPolicies,
          labels);
    }
  }
}
