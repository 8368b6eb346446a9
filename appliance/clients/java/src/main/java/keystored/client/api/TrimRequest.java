// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version Oldest version to keep.
 */
public record TrimRequest(
    @JsonProperty("version") Long version) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param version Oldest version to keep.
   * @return a builder
   */
  public static Builder builder(Long version) {
    Builder builder = new Builder();
    builder.version = version;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private Long version;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TrimRequest build() {
      return new TrimRequest(
          version);
    }
  }
}
