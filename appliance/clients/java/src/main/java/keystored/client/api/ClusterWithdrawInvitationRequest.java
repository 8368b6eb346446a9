// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param id Names the invitation in lists and audit records; nobody comes in by it.
 */
public record ClusterWithdrawInvitationRequest(
    @JsonProperty("id") String id) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param id Names the invitation in lists and audit records; nobody comes in by it.
   * @return a builder
   */
  public static Builder builder(String id) {
    Builder builder = new Builder();
    builder.id = id;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String id;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ClusterWithdrawInvitationRequest build() {
      return new ClusterWithdrawInvitationRequest(
          id);
    }
  }
}
