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
public record OidcRole(
    @JsonProperty("name") String name,
    @JsonProperty("required-claims") List<String> requiredClaims,
    @JsonProperty("claim-mappings") Map<String, ClaimTarget> claimMappings,
    @JsonProperty("oidc-scopes") List<String> oidcScopes,
    @JsonProperty("token-policies") List<String> tokenPolicies,
    @JsonProperty("labels") Map<String, String> labels) {
}
