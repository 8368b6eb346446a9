// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param invitation The line that a member has made.
 */
public record ClusterJoinRequest(
    @JsonProperty("invitation") String invitation) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param invitation The line that a member has made.
   * @return a builder
   */
  public static Builder builder(String invitation) {
    Builder builder = new Builder();
    builder.invitation = invitation;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ClusterJoinRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String invitation;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ClusterJoinRequest build() {
      return new ClusterJoinRequest(
          invitation);
    }
  }
}
