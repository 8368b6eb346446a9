// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
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
 * @param roleId What a login names. May be null: absent.
 * @param creationTime When it was made. May be null: absent.
 * @param secretIds Number of secret-ids on record. May be null: absent.
 */
public record ApproleState(
    @JsonProperty("name") String name,
    @JsonProperty("token-policies") List<String> tokenPolicies,
    @JsonProperty("token-ttl") String tokenTtl,
    @JsonProperty("token-max-ttl") String tokenMaxTtl,
    @JsonProperty("token-bound-cidrs") List<String> tokenBoundCidrs,
    @JsonProperty("secret-id-ttl") String secretIdTtl,
    @JsonProperty("secret-id-num-uses") Long secretIdNumUses,
    @JsonProperty("secret-id-bound-cidrs") List<String> secretIdBoundCidrs,
    @JsonProperty("fixed-role-id") String fixedRoleId,
    @JsonProperty("labels") Map<String, String> labels,
    @JsonProperty("role-id") String roleId,
    @JsonProperty("creation-time") Instant creationTime,
    @JsonProperty("secret-ids") Long secretIds) {
}
