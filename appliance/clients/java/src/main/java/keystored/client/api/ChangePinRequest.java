// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param token Name of the token in the configuration; needed where there are several. May be null: absent.
 */
public record ChangePinRequest(
    @JsonProperty("token") String token) {
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
    private String token;

    private Builder() {}

    /**
     * Name of the token in the configuration; needed where there are several.
     *
     * @param value null: absent
     * @return this
     */
    public Builder token(String value) {
      token = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ChangePinRequest build() {
      return new ChangePinRequest(
          token);
    }
  }
}
