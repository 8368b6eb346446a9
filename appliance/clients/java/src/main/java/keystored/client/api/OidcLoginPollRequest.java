// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param pollToken As the request for a sign-in was answered.
 */
public record OidcLoginPollRequest(
    @JsonProperty("poll-token") String pollToken) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param pollToken As the request for a sign-in was answered.
   * @return a builder
   */
  public static Builder builder(String pollToken) {
    Builder builder = new Builder();
    builder.pollToken = pollToken;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "OidcLoginPollRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String pollToken;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public OidcLoginPollRequest build() {
      return new OidcLoginPollRequest(
          pollToken);
    }
  }
}
