// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param token The token meant. May be null: absent.
 * @param accessor Or its accessor. May be null: absent.
 */
public record TokenDisableRequest(
    @JsonProperty("token") String token,
    @JsonProperty("accessor") String accessor) {
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
    return "TokenDisableRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String token;
    private String accessor;

    private Builder() {}

    /**
     * The token meant.
     *
     * @param value null: absent
     * @return this
     */
    public Builder token(String value) {
      token = value;
      return this;
    }

    /**
     * Or its accessor.
     *
     * @param value null: absent
     * @return this
     */
    public Builder accessor(String value) {
      accessor = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TokenDisableRequest build() {
      return new TokenDisableRequest(
          token,
          accessor);
    }
  }
}
