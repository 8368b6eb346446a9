// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * How roles are chosen.
 *
 * @param roleClaim Claim whose values are matched against the names of roles; a nested one is written as a JSON
 * pointer, such as /realm_access/roles.
 */
public record OidcServiceRoleSelectInput(
    @JsonProperty("role-claim") String roleClaim) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param roleClaim Claim whose values are matched against the names of roles; a nested one is written as a
   * JSON pointer, such as /realm_access/roles.
   * @return a builder
   */
  public static Builder builder(String roleClaim) {
    Builder builder = new Builder();
    builder.roleClaim = roleClaim;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String roleClaim;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public OidcServiceRoleSelectInput build() {
      return new OidcServiceRoleSelectInput(
          roleClaim);
    }
  }
}
