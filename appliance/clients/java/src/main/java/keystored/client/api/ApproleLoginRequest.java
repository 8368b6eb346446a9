// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param roleId The role-id of the approle.
 * @param secretId One of its secret-ids.
 */
public record ApproleLoginRequest(
    @JsonProperty("role-id") String roleId,
    @JsonProperty("secret-id") String secretId) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param roleId The role-id of the approle.
   * @param secretId One of its secret-ids.
   * @return a builder
   */
  public static Builder builder(String roleId, String secretId) {
    Builder builder = new Builder();
    builder.roleId = roleId;
    builder.secretId = secretId;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ApproleLoginRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String roleId;
    private String secretId;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ApproleLoginRequest build() {
      return new ApproleLoginRequest(
          roleId,
          secretId);
    }
  }
}
