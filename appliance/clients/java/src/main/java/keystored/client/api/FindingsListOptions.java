// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param after Start behind this name. May be null: absent.
 * @param limit Answer with at most so many entries. May be null: absent.
 */
public record FindingsListOptions(
    String after,
    Long limit) {
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
        .query("after", after)
        .query("limit", limit);
  }

  FindingsListOptions startingAfter(String value) {
    return new FindingsListOptions(value, limit);
  }

  /** Makes the document. */
  public static final class Builder {
    private String after;
    private Long limit;

    private Builder() {}

    /**
     * Start behind this name.
     *
     * @param value null: absent
     * @return this
     */
    public Builder after(String value) {
      after = value;
      return this;
    }

    /**
     * Answer with at most so many entries.
     *
     * @param value null: absent
     * @return this
     */
    public Builder limit(Long value) {
      limit = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public FindingsListOptions build() {
      return new FindingsListOptions(
          after,
          limit);
    }
  }
}
