// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param key What backup answered, here or on another appliance.
 */
public record RestoreRequest(
    @JsonProperty("key") String key) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param key What backup answered, here or on another appliance.
   * @return a builder
   */
  public static Builder builder(String key) {
    Builder builder = new Builder();
    builder.key = key;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "RestoreRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String key;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public RestoreRequest build() {
      return new RestoreRequest(
          key);
    }
  }
}
