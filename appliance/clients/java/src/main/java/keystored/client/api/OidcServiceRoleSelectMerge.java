// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * How roles are chosen.
 *
 * @param roleClaim Claim whose values are matched against the names of roles; a nested one is written as a JSON
 * pointer, such as /realm_access/roles. May be null: absent.
 */
public record OidcServiceRoleSelectMerge(
    @JsonProperty("role-claim") String roleClaim) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String roleClaim;

    private Builder() {}

    /**
     * Claim whose values are matched against the names of roles; a nested one is written as a JSON pointer, such
     * as /realm_access/roles.
     *
     * @param value null: absent
     * @return this
     */
    public Builder roleClaim(String value) {
      roleClaim = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public OidcServiceRoleSelectMerge build() {
      return new OidcServiceRoleSelectMerge(
          roleClaim);
    }
  }
}
