// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param validate Do every check and store nothing. An answer with an `ETag` says that the entry is so already.
 * May be null: absent.
 * @param lists `unite`: a list keeps what it has and gets what is new. `replace`: it becomes the list in the
 * body (RFC 7396), which is the default for bodies of application/merge-patch+json. May be null: absent.
 * @param ifMatch Change only what still has this entity tag. May be null: absent.
 */
public record TransitKeysMergeOptions(
    Boolean validate,
    TenantsMergeLists lists,
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
        .query("lists", lists)
        .header("If-Match", ifMatch);
  }

  /** Makes the document. */
  public static final class Builder {
    private Boolean validate;
    private TenantsMergeLists lists;
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
     * `unite`: a list keeps what it has and gets what is new. `replace`: it becomes the list in the body (RFC
     * 7396), which is the default for bodies of application/merge-patch+json.
     *
     * @param value null: absent
     * @return this
     */
    public Builder lists(TenantsMergeLists value) {
      lists = value;
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
    public TransitKeysMergeOptions build() {
      return new TransitKeysMergeOptions(
          validate,
          lists,
          ifMatch);
    }
  }
}
