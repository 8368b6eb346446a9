// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param subkey Name of the subkey.
 * @param reason Why. May be null: absent.
 * @param comment A remark that everybody will read. May be null: absent.
 */
public record UnbindSubkeyRequest(
    @JsonProperty("subkey") String subkey,
    @JsonProperty("reason") ExportOpenpgpRevocationRequestReason reason,
    @JsonProperty("comment") String comment) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param subkey Name of the subkey.
   * @return a builder
   */
  public static Builder builder(String subkey) {
    Builder builder = new Builder();
    builder.subkey = subkey;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String subkey;
    private ExportOpenpgpRevocationRequestReason reason;
    private String comment;

    private Builder() {}

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
    public UnbindSubkeyRequest build() {
      return new UnbindSubkeyRequest(
          subkey,
          reason,
          comment);
    }
  }
}
