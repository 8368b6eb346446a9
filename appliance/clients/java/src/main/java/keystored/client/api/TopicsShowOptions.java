// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param since Start with records of this time: a timestamp, or a duration such as `1h` before now. May be null:
 * absent.
 * @param before Only records before this time: a timestamp, or a duration such as `1h` before now. May be null:
 * absent.
 * @param limit Answer with at most so many records: from `since` on, or the newest. May be null: absent.
 * @param follow Go on with what is written later, until the client goes away. May be null: absent.
 * @param who Of the audit trail: the records alone of which the user, the tenant, the accessor or the address
 * contains this, in upper or lower case. May be null: absent.
 * @param what Of the audit trail: the records alone of which the method, the action, the kind or the code
 * contains this, in upper or lower case. May be null: absent.
 * @param where Of the audit trail: the records alone of which the path contains this, in upper or lower case.
 * May be null: absent.
 * @param result Of the audit trail: the records alone of requests that were `done`, `refused` (4xx) or `failed`
 * (5xx). May be null: absent.
 * @param reads Of the audit trail: `false` leaves out what only reads, and what the trail says of itself. May be
 * null: absent.
 */
public record TopicsShowOptions(
    String since,
    String before,
    Long limit,
    Boolean follow,
    String who,
    String what,
    String where,
    TopicsShowResult result,
    Boolean reads) {
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
        .query("before", before)
        .query("limit", limit)
        .query("follow", follow)
        .query("who", who)
        .query("what", what)
        .query("where", where)
        .query("result", result)
        .query("reads", reads);
  }

  /** Makes the document. */
  public static final class Builder {
    private String since;
    private String before;
    private Long limit;
    private Boolean follow;
    private String who;
    private String what;
    private String where;
    private TopicsShowResult result;
    private Boolean reads;

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
     * Only records before this time: a timestamp, or a duration such as `1h` before now.
     *
     * @param value null: absent
     * @return this
     */
    public Builder before(String value) {
      before = value;
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
     * Of the audit trail: the records alone of which the user, the tenant, the accessor or the address contains
     * this, in upper or lower case.
     *
     * @param value null: absent
     * @return this
     */
    public Builder who(String value) {
      who = value;
      return this;
    }

    /**
     * Of the audit trail: the records alone of which the method, the action, the kind or the code contains this,
     * in upper or lower case.
     *
     * @param value null: absent
     * @return this
     */
    public Builder what(String value) {
      what = value;
      return this;
    }

    /**
     * Of the audit trail: the records alone of which the path contains this, in upper or lower case.
     *
     * @param value null: absent
     * @return this
     */
    public Builder where(String value) {
      where = value;
      return this;
    }

    /**
     * Of the audit trail: the records alone of requests that were `done`, `refused` (4xx) or `failed` (5xx).
     *
     * @param value null: absent
     * @return this
     */
    public Builder result(TopicsShowResult value) {
      result = value;
      return this;
    }

    /**
     * Of the audit trail: `false` leaves out what only reads, and what the trail says of itself.
     *
     * @param value null: absent
     * @return this
     */
    public Builder reads(Boolean value) {
      reads = value;
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
          before,
          limit,
          follow,
          who,
          what,
          where,
          result,
          reads);
    }
  }
}
