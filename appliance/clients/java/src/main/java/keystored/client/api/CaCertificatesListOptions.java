// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param after Start behind this serial number. May be null: absent.
 * @param limit Answer with at most so many entries. May be null: absent.
 * @param contains Answer with those alone whose subject or alternative names contain this text, in any case, or
 * whose serial number begins with it. An answer looks at 5000 certificates: it may be empty and have a `Link` to
 * go on. May be null: absent.
 * @param status Answer with those alone that are so now. Pages as with `contains`. May be null: absent.
 */
public record CaCertificatesListOptions(
    String after,
    Long limit,
    String contains,
    CaCertificatesListStatus status) {
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
        .query("limit", limit)
        .query("contains", contains)
        .query("status", status);
  }

  CaCertificatesListOptions startingAfter(String value) {
    return new CaCertificatesListOptions(value, limit, contains, status);
  }

  /** Makes the document. */
  public static final class Builder {
    private String after;
    private Long limit;
    private String contains;
    private CaCertificatesListStatus status;

    private Builder() {}

    /**
     * Start behind this serial number.
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
     * Answer with those alone whose subject or alternative names contain this text, in any case, or whose serial
     * number begins with it. An answer looks at 5000 certificates: it may be empty and have a `Link` to go on.
     *
     * @param value null: absent
     * @return this
     */
    public Builder contains(String value) {
      contains = value;
      return this;
    }

    /**
     * Answer with those alone that are so now. Pages as with `contains`.
     *
     * @param value null: absent
     * @return this
     */
    public Builder status(CaCertificatesListStatus value) {
      status = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public CaCertificatesListOptions build() {
      return new CaCertificatesListOptions(
          after,
          limit,
          contains,
          status);
    }
  }
}
