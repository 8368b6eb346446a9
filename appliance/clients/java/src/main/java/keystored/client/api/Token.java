// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;

/**
 * A document of the API.
 *
 * @param accessor Stands for the token where the token itself must not be seen.
 * @param tenant Tenant of the token. May be null: absent.
 * @param user Who holds it: a user, an approle, or root. May be null: absent.
 * @param userKind Where the name of the user comes from: names of different sources may be alike. May be null:
 * absent.
 * @param userSource The approle, or the service at which the person signed in. May be null: absent.
 * @param policies What it may do, within what its tenant may do. May be null: absent.
 * @param creationTime When it was made. May be null: absent.
 * @param expires When it ends; root tokens have no end. May be null: absent.
 * @param expiresIn Seconds until then. May be null: absent.
 * @param latestExpires The end that no refresh passes. May be null: absent.
 * @param boundCidrs Ranges of addresses it works from. May be null: absent.
 * @param parent Accessor of the token that made it and that it ends with. May be null: absent.
 * @param approle Approle it was issued for. May be null: absent.
 */
public record Token(
    @JsonProperty("accessor") String accessor,
    @JsonProperty("tenant") String tenant,
    @JsonProperty("user") String user,
    @JsonProperty("user-kind") UserKind userKind,
    @JsonProperty("user-source") String userSource,
    @JsonProperty("policies") List<String> policies,
    @JsonProperty("creation-time") Instant creationTime,
    @JsonProperty("expires") Instant expires,
    @JsonProperty("expires-in") Long expiresIn,
    @JsonProperty("latest-expires") Instant latestExpires,
    @JsonProperty("bound-cidrs") List<String> boundCidrs,
    @JsonProperty("parent") String parent,
    @JsonProperty("approle") String approle) {
}
