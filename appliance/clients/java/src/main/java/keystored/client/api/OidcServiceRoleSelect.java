// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * How roles are chosen.
 *
 * @param roleClaim Claim whose values are matched against the names of roles; a nested one is written as a JSON
 * pointer, such as /realm_access/roles. May be null: absent.
 */
public record OidcServiceRoleSelect(
    @JsonProperty("role-claim") String roleClaim) {
}
