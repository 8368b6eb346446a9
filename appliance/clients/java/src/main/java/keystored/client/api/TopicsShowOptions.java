// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param since Start with records of this time: a timestamp, or a duration such as `1h` before now. May be null:
 * absent.
 * @param limit Answer with at most so many records: from `since` on, or the newest. May be null: absent.
 * @param follow Go on with what is written later, until the client goes away. May be null: absent.
 */
public record TopicsShowOptions(
    String since,
    Long limit,
    Boolean follow) {
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
        .query("since", since)
        .query("limit", limit)
        .query("follow", follow);
  }

  /** Makes the document. */
  public static final class Builder {
    private String since;
    private Long limit;
    private Boolean follow;

    private Builder() {}

    /**
     * Start with records of this time: a timestamp, or a duration such as `1h` before now.
     *
     * @param value null: absent
     * @return this
     */
    public Builder since(String value) {
      since = value;
      return this;
    }

    /**
     * Answer with at most so many records: from `since` on, or the newest.
     *
     * @param value null: absent
     * @return this
     */
    public Builder limit(Long value) {
      limit = value;
      return this;
    }

    /**
     * Go on with what is written later, until the client goes away.
     *
     * @param value null: absent
     * @return this
     */
    public Builder follow(Boolean value) {
      follow = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TopicsShowOptions build() {
      return new TopicsShowOptions(
          since,
          limit,
          follow);
    }
  }
}
