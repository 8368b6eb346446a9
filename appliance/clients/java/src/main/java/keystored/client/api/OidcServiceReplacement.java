// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param displayName What the login page calls it. May be null: absent.
 * @param discoveryUrl Where the provider's OpenID Connect metadata is.
 * @param providerHosts Hosts beside that of discovery-url at which the provider may have its token endpoint and
 * its keys, as some do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
 * May be null: absent.
 * @param useRootCaCerts Whether the public CAs are trusted for the provider. May be null: absent.
 * @param caCerts CAs trusted for the provider besides, PEM. May be null: absent.
 * @param clientId The id the provider gave this appliance.
 * @param clientSecret The secret the provider gave this appliance. May be null: absent.
 * @param verboseLogging Write claims of sign-ins into system:logs: while setting up, not in production. May be
 * null: absent.
 * @param roleSelect How roles are chosen.
 * @param allowedRedirectUris Redirect URIs as registered at the provider; the path is /oidc-callback.
 * @param tokenEndpointAuthMethod How the secret is sent; default: as the provider says. May be null: absent.
 * @param clockTolerance How far the clocks may differ. May be null: absent.
 * @param sessionTtl How long a sign-in lasts. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 */
public record OidcServiceReplacement(
    @JsonProperty("display-name") String displayName,
    @JsonProperty("discovery-url") String discoveryUrl,
    @JsonProperty("provider-hosts") List<String> providerHosts,
    @JsonProperty("use-root-ca-certs") Boolean useRootCaCerts,
    @JsonProperty("ca-certs") String caCerts,
    @JsonProperty("client-id") String clientId,
    @JsonProperty("client-secret") String clientSecret,
    @JsonProperty("verbose-logging") Boolean verboseLogging,
    @JsonProperty("role-select") OidcServiceRoleSelectInput roleSelect,
    @JsonProperty("allowed-redirect-uris") List<String> allowedRedirectUris,
    @JsonProperty("token-endpoint-auth-method") TokenEndpointAuthMethod tokenEndpointAuthMethod,
    @JsonProperty("clock-tolerance") String clockTolerance,
    @JsonProperty("session-ttl") String sessionTtl,
    @JsonProperty("labels") Map<String, String> labels) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param discoveryUrl Where the provider's OpenID Connect metadata is.
   * @param clientId The id the provider gave this appliance.
   * @param roleSelect How roles are chosen.
   * @param allowedRedirectUris Redirect URIs as registered at the provider; the path is /oidc-callback.
   * @return a builder
   */
  public static Builder builder(String discoveryUrl, String clientId, OidcServiceRoleSelectInput roleSelect, List<String> allowedRedirectUris) {
    Builder builder = new Builder();
    builder.discoveryUrl = discoveryUrl;
    builder.clientId = clientId;
    builder.roleSelect = roleSelect;
    builder.allowedRedirectUris = allowedRedirectUris;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "OidcServiceReplacement[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String displayName;
    private String discoveryUrl;
    private List<String> providerHosts;
    private Boolean useRootCaCerts;
    private String caCerts;
    private String clientId;
    private String clientSecret;
    private Boolean verboseLogging;
    private OidcServiceRoleSelectInput roleSelect;
    private List<String> allowedRedirectUris;
    private TokenEndpointAuthMethod tokenEndpointAuthMethod;
    private String clockTolerance;
    private String sessionTtl;
    private Map<String, String> labels;

    private Builder() {}

    /**
     * What the login page calls it.
     *
     * @param value null: absent
     * @return this
     */
    public Builder displayName(String value) {
      displayName = value;
      return this;
    }

    /**
     * Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some
     * do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
     *
     * @param value null: absent
     * @return this
     */
    public Builder providerHosts(List<String> value) {
      providerHosts = value;
      return this;
    }

    /**
     * Whether the public CAs are trusted for the provider.
     *
     * @param value null: absent
     * @return this
     */
    public Builder useRootCaCerts(Boolean value) {
      useRootCaCerts = value;
      return this;
    }

    /**
     * CAs trusted for the provider besides, PEM.
     *
     * @param value null: absent
     * @return this
     */
    public Builder caCerts(String value) {
      caCerts = value;
      return this;
    }

    /**
     * The secret the provider gave this appliance.
     *
     * @param value null: absent
     * @return this
     */
    public Builder clientSecret(String value) {
      clientSecret = value;
      return this;
    }

    /**
     * Write claims of sign-ins into system:logs: while setting up, not in production.
     *
     * @param value null: absent
     * @return this
     */
    public Builder verboseLogging(Boolean value) {
      verboseLogging = value;
      return this;
    }

    /**
     * How the secret is sent; default: as the provider says.
     *
     * @param value null: absent
     * @return this
     */
    public Builder tokenEndpointAuthMethod(TokenEndpointAuthMethod value) {
      tokenEndpointAuthMethod = value;
      return this;
    }

    /**
     * How far the clocks may differ.
     *
     * @param value null: absent
     * @return this
     */
    public Builder clockTolerance(String value) {
      clockTolerance = value;
      return this;
    }

    /**
     * How long a sign-in lasts.
     *
     * @param value null: absent
     * @return this
     */
    public Builder sessionTtl(String value) {
      sessionTtl = value;
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
    public OidcServiceReplacement build() {
      return new OidcServiceReplacement(
          displayName,
          discoveryUrl,
          providerHosts,
          useRootCaCerts,
          caCerts,
          clientId,
          clientSecret,
          verboseLogging,
          roleSelect,
          allowedRedirectUris,
          tokenEndpointAuthMethod,
          clockTolerance,
          sessionTtl,
          labels);
    }
  }
}
