// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param increment How long it shall live from now; unless given, its ttl. May be null: absent.
 */
public record TokenRefreshRequest(
    @JsonProperty("increment") String increment) {
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
    private String increment;

    private Builder() {}

    /**
     * How long it shall live from now; unless given, its ttl.
     *
     * @param value null: absent
     * @return this
     */
    public Builder increment(String value) {
      increment = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TokenRefreshRequest build() {
      return new TokenRefreshRequest(
          increment);
    }
  }
}
