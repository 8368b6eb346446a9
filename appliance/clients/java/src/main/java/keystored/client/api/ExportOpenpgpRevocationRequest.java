// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version Version to revoke. May be null: absent.
 * @param reason Why. May be null: absent.
 * @param comment A remark that everybody will read. May be null: absent.
 */
public record ExportOpenpgpRevocationRequest(
    @JsonProperty("version") Long version,
    @JsonProperty("reason") ExportOpenpgpRevocationRequestReason reason,
    @JsonProperty("comment") String comment) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private Long version;
    private ExportOpenpgpRevocationRequestReason reason;
    private String comment;

    private Builder() {}

    /**
     * Version to revoke.
     *
     * @param value null: absent
     * @return this
     */
    public Builder version(Long value) {
      version = value;
      return this;
    }

    /**
     * Why.
     *
     * @param value null: absent
     * @return this
     */
    public Builder reason(ExportOpenpgpRevocationRequestReason value) {
      reason = value;
      return this;
    }

    /**
     * A remark that everybody will read.
     *
     * @param value null: absent
     * @return this
     */
    public Builder comment(String value) {
      comment = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ExportOpenpgpRevocationRequest build() {
      return new ExportOpenpgpRevocationRequest(
          version,
          reason,
          comment);
    }
  }
}
