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
public record TransitKeysExportOpenpgpRevocationRequest(
    @JsonProperty("version") Object version,
    @JsonProperty("reason") TransitKeysExportOpenpgpRevocationRequestReason reason,
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
    private Object version;
    private TransitKeysExportOpenpgpRevocationRequestReason reason;
    private String comment;

    private Builder() {}

    /**
     * Version to revoke.
     *
     * @param value null: absent
     * @return this
     */
    public Builder version(Object value) {
      version = value;
      return this;
    }

    /**
     * Why.
     *
     * @param value null: absent
     * @return this
     */
    public Builder reason(TransitKeysExportOpenpgpRevocationRequestReason value) {
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
    public TransitKeysExportOpenpgpRevocationRequest build() {
      return new TransitKeysExportOpenpgpRevocationRequest(
          version,
          reason,
          comment);
    }
  }
}
