// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param name Name of the OIDC service.
 * @param displayName What the login page calls it. May be null: absent.
 * @param discoveryUrl Where the provider's OpenID Connect metadata is. May be null: absent.
 * @param providerHosts Hosts beside that of discovery-url at which the provider may have its token endpoint and
 * its keys, as some do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
 * May be null: absent.
 * @param useRootCaCerts Whether the public CAs are trusted for the provider. May be null: absent.
 * @param caCerts CAs trusted for the provider besides, PEM. May be null: absent.
 * @param clientId The id the provider gave this appliance. May be null: absent.
 * @param verboseLogging Write claims of sign-ins into system:logs: while setting up, not in production. May be
 * null: absent.
 * @param roleSelect How roles are chosen. May be null: absent.
 * @param allowedRedirectUris Redirect URIs as registered at the provider; the path is /oidc-callback. May be
 * null: absent.
 * @param tokenEndpointAuthMethod How the secret is sent; default: as the provider says. May be null: absent.
 * @param clockTolerance How far the clocks may differ. May be null: absent.
 * @param sessionTtl How long a sign-in lasts. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 * @param notices What an administrator should know, in sentences. May be null: absent.
 * @param clientSecretSet Whether the secret is set; its value is never answered. May be null: absent.
 */
public record OidcServiceState(
    @JsonProperty("name") String name,
    @JsonProperty("display-name") String displayName,
    @JsonProperty("discovery-url") String discoveryUrl,
    @JsonProperty("provider-hosts") List<String> providerHosts,
    @JsonProperty("use-root-ca-certs") Boolean useRootCaCerts,
    @JsonProperty("ca-certs") String caCerts,
    @JsonProperty("client-id") String clientId,
    @JsonProperty("verbose-logging") Boolean verboseLogging,
    @JsonProperty("role-select") OidcServiceRoleSelect roleSelect,
    @JsonProperty("allowed-redirect-uris") List<String> allowedRedirectUris,
    @JsonProperty("token-endpoint-auth-method") TokenEndpointAuthMethod tokenEndpointAuthMethod,
    @JsonProperty("clock-tolerance") String clockTolerance,
    @JsonProperty("session-ttl") String sessionTtl,
    @JsonProperty("labels") Map<String, String> labels,
    @JsonProperty("notices") List<String> notices,
    @JsonProperty("client-secret-set") Boolean clientSecretSet) {
}
