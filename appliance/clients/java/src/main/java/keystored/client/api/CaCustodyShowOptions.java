// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param generation The generation of the key: `latest` (default) or a number; a renewal adds one. May be null:
 * absent.
 */
public record CaCustodyShowOptions(
    String generation) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  Parts addTo(Parts parts) {
    return parts
        .query("generation", generation);
  }

  /** Makes the document. */
  public static final class Builder {
    private String generation;

    private Builder() {}

    /**
     * The generation of the key: `latest` (default) or a number; a renewal adds one.
     *
     * @param value null: absent
     * @return this
     */
    public Builder generation(String value) {
      generation = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public CaCustodyShowOptions build() {
      return new CaCustodyShowOptions(
          generation);
    }
  }
}
