// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param tenant Name of the tenant.
 * @param service Name of the OIDC service.
 */
public record OidcLoginRequest(
    @JsonProperty("tenant") String tenant,
    @JsonProperty("service") String service) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param tenant Name of the tenant.
   * @param service Name of the OIDC service.
   * @return a builder
   */
  public static Builder builder(String tenant, String service) {
    Builder builder = new Builder();
    builder.tenant = tenant;
    builder.service = service;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String tenant;
    private String service;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public OidcLoginRequest build() {
      return new OidcLoginRequest(
          tenant,
          service);
    }
  }
}
