// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;
import keystored.client.Change;

/**
 * A document of the API.
 *
 * @param displayName What the login page calls it. May be null: absent.
 * @param discoveryUrl Where the provider's OpenID Connect metadata is. May be null: absent.
 * @param providerHosts Hosts beside that of discovery-url at which the provider may have its token endpoint and
 * its keys, as some do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
 * May be null: absent.
 * @param useRootCaCerts Whether the public CAs are trusted for the provider. May be null: absent.
 * @param caCerts CAs trusted for the provider besides, PEM. May be null: absent.
 * @param clientId The id the provider gave this appliance. May be null: absent.
 * @param clientSecret The secret the provider gave this appliance. May be null: absent.
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
 */
public record OidcServiceMerge(
    @JsonProperty("display-name") Change<String> displayName,
    @JsonProperty("discovery-url") String discoveryUrl,
    @JsonProperty("provider-hosts") Change<List<String>> providerHosts,
    @JsonProperty("use-root-ca-certs") Boolean useRootCaCerts,
    @JsonProperty("ca-certs") Change<String> caCerts,
    @JsonProperty("client-id") String clientId,
    @JsonProperty("client-secret") String clientSecret,
    @JsonProperty("verbose-logging") Boolean verboseLogging,
    @JsonProperty("role-select") OidcServiceRoleSelectMerge roleSelect,
    @JsonProperty("allowed-redirect-uris") List<String> allowedRedirectUris,
    @JsonProperty("token-endpoint-auth-method") Change<TokenEndpointAuthMethod> tokenEndpointAuthMethod,
    @JsonProperty("clock-tolerance") String clockTolerance,
    @JsonProperty("session-ttl") String sessionTtl,
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

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "OidcServiceMerge[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private Change<String> displayName;
    private String discoveryUrl;
    private Change<List<String>> providerHosts;
    private Boolean useRootCaCerts;
    private Change<String> caCerts;
    private String clientId;
    private String clientSecret;
    private Boolean verboseLogging;
    private OidcServiceRoleSelectMerge roleSelect;
    private List<String> allowedRedirectUris;
    private Change<TokenEndpointAuthMethod> tokenEndpointAuthMethod;
    private String clockTolerance;
    private String sessionTtl;
    private Change<Map<String, String>> labels;

    private Builder() {}

    /**
     * What the login page calls it.
     *
     * @param value not null
     * @return this
     */
    public Builder displayName(String value) {
      displayName = Change.to(value);
      return this;
    }

    /**
     * Removes what display-name is.
     *
     * @return this
     */
    public Builder removeDisplayName() {
      displayName = Change.removal();
      return this;
    }

    /**
     * Where the provider's OpenID Connect metadata is.
     *
     * @param value null: absent
     * @return this
     */
    public Builder discoveryUrl(String value) {
      discoveryUrl = value;
      return this;
    }

    /**
     * Hosts beside that of discovery-url at which the provider may have its token endpoint and its keys, as some
     * do. Those of Google are known. A service of version 0.1.0 without this field takes any host.
     *
     * @param value not null
     * @return this
     */
    public Builder providerHosts(List<String> value) {
      providerHosts = Change.to(value);
      return this;
    }

    /**
     * Removes what provider-hosts is.
     *
     * @return this
     */
    public Builder removeProviderHosts() {
      providerHosts = Change.removal();
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
     * @param value not null
     * @return this
     */
    public Builder caCerts(String value) {
      caCerts = Change.to(value);
      return this;
    }

    /**
     * Removes what ca-certs is.
     *
     * @return this
     */
    public Builder removeCaCerts() {
      caCerts = Change.removal();
      return this;
    }

    /**
     * The id the provider gave this appliance.
     *
     * @param value null: absent
     * @return this
     */
    public Builder clientId(String value) {
      clientId = value;
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
     * How roles are chosen.
     *
     * @param value null: absent
     * @return this
     */
    public Builder roleSelect(OidcServiceRoleSelectMerge value) {
      roleSelect = value;
      return this;
    }

    /**
     * Redirect URIs as registered at the provider; the path is /oidc-callback.
     *
     * @param value null: absent
     * @return this
     */
    public Builder allowedRedirectUris(List<String> value) {
      allowedRedirectUris = value;
      return this;
    }

    /**
     * How the secret is sent; default: as the provider says.
     *
     * @param value not null
     * @return this
     */
    public Builder tokenEndpointAuthMethod(TokenEndpointAuthMethod value) {
      tokenEndpointAuthMethod = Change.to(value);
      return this;
    }

    /**
     * Removes what token-endpoint-auth-method is.
     *
     * @return this
     */
    public Builder removeTokenEndpointAuthMethod() {
      tokenEndpointAuthMethod = Change.removal();
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
    public OidcServiceMerge build() {
      return new OidcServiceMerge(
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
