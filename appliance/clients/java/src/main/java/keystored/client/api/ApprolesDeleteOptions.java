// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param validate Do every check and store nothing. An answer with an `ETag` says that the entry is so already.
 * May be null: absent.
 * @param ifMatch Change only what still has this entity tag. May be null: absent.
 */
public record ApprolesDeleteOptions(
    Boolean validate,
    String ifMatch) {
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
        .query("validate", validate)
        .header("If-Match", ifMatch);
  }

  /** Makes the document. */
  public static final class Builder {
    private Boolean validate;
    private String ifMatch;

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
     * Change only what still has this entity tag.
     *
     * @param value null: absent
     * @return this
     */
    public Builder ifMatch(String value) {
      ifMatch = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ApprolesDeleteOptions build() {
      return new ApprolesDeleteOptions(
          validate,
          ifMatch);
    }
  }
}
