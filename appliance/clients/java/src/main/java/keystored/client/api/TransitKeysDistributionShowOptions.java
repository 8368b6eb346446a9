// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param version The version that it is about: `latest` (default) or a number. May be null: absent.
 */
public record TransitKeysDistributionShowOptions(
    String version) {
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
        .query("version", version);
  }

  /** Makes the document. */
  public static final class Builder {
    private String version;

    private Builder() {}

    /**
     * The version that it is about: `latest` (default) or a number.
     *
     * @param value null: absent
     * @return this
     */
    public Builder version(String value) {
      version = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeysDistributionShowOptions build() {
      return new TransitKeysDistributionShowOptions(
          version);
    }
  }
}
