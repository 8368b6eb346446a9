// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param usable Whether sign-ins can work.
 * @param findings What is wrong, errors first.
 * @param issuer Issuer in the metadata. May be null: absent.
 * @param authorizationEndpoint Where users sign in. May be null: absent.
 * @param tokenEndpoint Where codes are exchanged. May be null: absent.
 * @param algorithms Signature algorithms both sides know. May be null: absent.
 * @param pkce Proof key for code exchange (RFC 7636). May be null: absent.
 * @param issParameter Whether the provider names itself in its redirects (RFC 9207). May be null: absent.
 * @param tokenEndpointAuthMethod How the secret is sent. May be null: absent.
 * @param clientCredentials What the token endpoint says to client-id and client-secret, tried with a code that
 * does not exist. May be null: absent.
 * @param redirectUris The redirect URIs. May be null: absent.
 * @param keys Keys of the provider. May be null: absent.
 * @param directoryHost Host of the directory API that answers memberships. May be null: absent.
 * @param certificateChain TLS certificates of the provider. May be null: absent.
 * @param clockDifferenceSeconds Seconds the provider's clock is ahead of the appliance's, by its Date header.
 * May be null: absent.
 * @param scopes Scopes a sign-in asks for. May be null: absent.
 */
public record OidcTestAnswer(
    @JsonProperty("usable") Boolean usable,
    @JsonProperty("findings") List<OidcTestFinding> findings,
    @JsonProperty("issuer") String issuer,
    @JsonProperty("authorization-endpoint") String authorizationEndpoint,
    @JsonProperty("token-endpoint") String tokenEndpoint,
    @JsonProperty("algorithms") List<String> algorithms,
    @JsonProperty("pkce") OidcTestPkce pkce,
    @JsonProperty("iss-parameter") Boolean issParameter,
    @JsonProperty("token-endpoint-auth-method") String tokenEndpointAuthMethod,
    @JsonProperty("client-credentials") OidcTestAnswerClientCredentials clientCredentials,
    @JsonProperty("redirect-uris") List<OidcTestRedirectUri> redirectUris,
    @JsonProperty("keys") List<OidcTestKey> keys,
    @JsonProperty("directory-host") String directoryHost,
    @JsonProperty("certificate-chain") List<OidcTestCertificateChain> certificateChain,
    @JsonProperty("clock-difference-seconds") Double clockDifferenceSeconds,
    @JsonProperty("scopes") List<String> scopes) {
}
