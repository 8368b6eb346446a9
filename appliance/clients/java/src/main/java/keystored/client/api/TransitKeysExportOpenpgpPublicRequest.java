// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version Version to export; all: every version, in one block. May be null: absent.
 * @param subkeys Of a primary key: also the subkeys that these versions bound, in all their versions. May be
 * null: absent.
 */
public record TransitKeysExportOpenpgpPublicRequest(
    @JsonProperty("version") Object version,
    @JsonProperty("subkeys") Boolean subkeys) {
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
    private Boolean subkeys;

    private Builder() {}

    /**
     * Version to export; all: every version, in one block.
     *
     * @param value null: absent
     * @return this
     */
    public Builder version(Object value) {
      version = value;
      return this;
    }

    /**
     * Of a primary key: also the subkeys that these versions bound, in all their versions.
     *
     * @param value null: absent
     * @return this
     */
    public Builder subkeys(Boolean value) {
      subkeys = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeysExportOpenpgpPublicRequest build() {
      return new TransitKeysExportOpenpgpPublicRequest(
          version,
          subkeys);
    }
  }
}
