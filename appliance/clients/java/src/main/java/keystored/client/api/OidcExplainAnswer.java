// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param outcome signed-in, or the code of the refusal.
 * @param explanation The same in a sentence.
 * @param roleClaim Claim that roles are matched with.
 * @param roleClaimValues How many values it has; absent when it is missing. May be null: absent.
 * @param roles Every role of the service.
 * @param policies What the sign-in gets.
 * @param unknownPolicies Named by a granted role, and not there: they grant nothing.
 * @param username As mapped from the claims. May be null: absent.
 * @param fullname As mapped from the claims. May be null: absent.
 * @param notes What else to know, in sentences.
 * @param login The failed sign-in that was asked for. May be null: absent.
 */
public record OidcExplainAnswer(
    @JsonProperty("outcome") String outcome,
    @JsonProperty("explanation") String explanation,
    @JsonProperty("role-claim") String roleClaim,
    @JsonProperty("role-claim-values") Long roleClaimValues,
    @JsonProperty("roles") List<OidcExplainRole> roles,
    @JsonProperty("policies") List<String> policies,
    @JsonProperty("unknown-policies") List<String> unknownPolicies,
    @JsonProperty("username") String username,
    @JsonProperty("fullname") String fullname,
    @JsonProperty("notes") List<String> notes,
    @JsonProperty("login") OidcExplainLogin login) {
}
