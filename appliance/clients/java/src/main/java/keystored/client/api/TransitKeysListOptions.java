// Parameters of an operation. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Parts;

/**
 * The optional parameters of an operation.
 *
 * @param after Start behind this name. May be null: absent.
 * @param limit Answer with at most so many entries. May be null: absent.
 * @param selector Answer with the entries alone that have all of these labels. May be null: absent.
 * @param contains Answer with the entries alone that have this in their names. Upper and lower case count. May
 * be null: absent.
 * @param cipher Answer with the keys of this cipher alone. May be null: absent.
 * @param custody Answer with the keys in this custody alone. May be null: absent.
 * @param use Answer with the keys alone that do this. A key made from a public key verifies and does not sign.
 * May be null: absent.
 * @param attention `true`: answer with the keys alone that need a person, because a rotation by auto-rotate is
 * overdue, or because the newest version has made half of the 2^32 encryptions that it may make. May be null:
 * absent.
 */
public record TransitKeysListOptions(
    String after,
    Long limit,
    String selector,
    String contains,
    TransitKeysListConfigCipher cipher,
    TransitKeysListConfigCustody custody,
    TransitKeysListConfigUse use,
    Boolean attention) {
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
        .query("selector", selector)
        .query("contains", contains)
        .query("cipher", cipher)
        .query("custody", custody)
        .query("use", use)
        .query("attention", attention);
  }

  TransitKeysListOptions startingAfter(String value) {
    return new TransitKeysListOptions(value, limit, selector, contains, cipher, custody, use, attention);
  }

  /** Makes the document. */
  public static final class Builder {
    private String after;
    private Long limit;
    private String selector;
    private String contains;
    private TransitKeysListConfigCipher cipher;
    private TransitKeysListConfigCustody custody;
    private TransitKeysListConfigUse use;
    private Boolean attention;

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
     * Answer with the entries alone that have all of these labels.
     *
     * @param value null: absent
     * @return this
     */
    public Builder selector(String value) {
      selector = value;
      return this;
    }

    /**
     * Answer with the entries alone that have this in their names. Upper and lower case count.
     *
     * @param value null: absent
     * @return this
     */
    public Builder contains(String value) {
      contains = value;
      return this;
    }

    /**
     * Answer with the keys of this cipher alone.
     *
     * @param value null: absent
     * @return this
     */
    public Builder cipher(TransitKeysListConfigCipher value) {
      cipher = value;
      return this;
    }

    /**
     * Answer with the keys in this custody alone.
     *
     * @param value null: absent
     * @return this
     */
    public Builder custody(TransitKeysListConfigCustody value) {
      custody = value;
      return this;
    }

    /**
     * Answer with the keys alone that do this. A key made from a public key verifies and does not sign.
     *
     * @param value null: absent
     * @return this
     */
    public Builder use(TransitKeysListConfigUse value) {
      use = value;
      return this;
    }

    /**
     * `true`: answer with the keys alone that need a person, because a rotation by auto-rotate is overdue, or
     * because the newest version has made half of the 2^32 encryptions that it may make.
     *
     * @param value null: absent
     * @return this
     */
    public Builder attention(Boolean value) {
      attention = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeysListOptions build() {
      return new TransitKeysListOptions(
          after,
          limit,
          selector,
          contains,
          cipher,
          custody,
          use,
          attention);
    }
  }
}
