// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param validate Do every check and store nothing. An answer with an `ETag` says that the entry is so already.
 * May be null: absent.
 */
public record TransitKeysCreateBatchOptions(
    Boolean validate) {
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
        .query("validate", validate);
  }

  /** Makes the document. */
  public static final class Builder {
    private Boolean validate;

    private Builder() {}

    /**
     * Do every check and store nothing. An answer with an `ETag` says that the entry is so already.
     *
     * @param value null: absent
     * @return this
     */
    public Builder validate(Boolean value) {
      validate = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeysCreateBatchOptions build() {
      return new TransitKeysCreateBatchOptions(
          validate);
    }
  }
}
