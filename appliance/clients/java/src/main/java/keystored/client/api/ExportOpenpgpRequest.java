// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version Default: every version that may decrypt. May be null: absent.
 * @param openpgpUserId User ID of the block; default: that of the key. May be null: absent.
 */
public record ExportOpenpgpRequest(
    @JsonProperty("version") Long version,
    @JsonProperty("openpgp-user-id") String openpgpUserId) {
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
    private String openpgpUserId;

    private Builder() {}

    /**
     * Default: every version that may decrypt.
     *
     * @param value null: absent
     * @return this
     */
    public Builder version(Long value) {
      version = value;
      return this;
    }

    /**
     * User ID of the block; default: that of the key.
     *
     * @param value null: absent
     * @return this
     */
    public Builder openpgpUserId(String value) {
      openpgpUserId = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ExportOpenpgpRequest build() {
      return new ExportOpenpgpRequest(
          version,
          openpgpUserId);
    }
  }
}
