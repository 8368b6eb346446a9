// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param serial Serial number of the certificate, hexadecimal.
 * @param reason Why (RFC 5280 section 5.3.1). May be null: absent.
 * @param line The whole line: what it renewed, and all renewals of that. May be null: absent.
 */
public record CaRevokeRequest(
    @JsonProperty("serial") String serial,
    @JsonProperty("reason") CaRevokeRequestReason reason,
    @JsonProperty("line") Boolean line) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param serial Serial number of the certificate, hexadecimal.
   * @return a builder
   */
  public static Builder builder(String serial) {
    Builder builder = new Builder();
    builder.serial = serial;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String serial;
    private CaRevokeRequestReason reason;
    private Boolean line;

    private Builder() {}

    /**
     * Why (RFC 5280 section 5.3.1).
     *
     * @param value null: absent
     * @return this
     */
    public Builder reason(CaRevokeRequestReason value) {
      reason = value;
      return this;
    }

    /**
     * The whole line: what it renewed, and all renewals of that.
     *
     * @param value null: absent
     * @return this
     */
    public Builder line(Boolean value) {
      line = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public CaRevokeRequest build() {
      return new CaRevokeRequest(
          serial,
          reason,
          line);
    }
  }
}
