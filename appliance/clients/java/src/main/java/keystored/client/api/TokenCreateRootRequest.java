// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param name Name of the tenant.
 */
public record TokenCreateRootRequest(
    @JsonProperty("name") String name) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param name Name of the tenant.
   * @return a builder
   */
  public static Builder builder(String name) {
    Builder builder = new Builder();
    builder.name = name;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String name;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TokenCreateRootRequest build() {
      return new TokenCreateRootRequest(
          name);
    }
  }
}
