// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version Version to export; default: the newest. May be null: absent.
 * @param allVersions Every version, in one block; without `version`. May be null: absent.
 * @param subkeys Of a primary key: also the subkeys that these versions bound, in all their versions. May be
 * null: absent.
 */
public record ExportOpenpgpPublicRequest(
    @JsonProperty("version") Long version,
    @JsonProperty("all-versions") Boolean allVersions,
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
    private Long version;
    private Boolean allVersions;
    private Boolean subkeys;

    private Builder() {}

    /**
     * Version to export; default: the newest.
     *
     * @param value null: absent
     * @return this
     */
    public Builder version(Long value) {
      version = value;
      return this;
    }

    /**
     * Every version, in one block; without `version`.
     *
     * @param value null: absent
     * @return this
     */
    public Builder allVersions(Boolean value) {
      allVersions = value;
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
    public ExportOpenpgpPublicRequest build() {
      return new ExportOpenpgpPublicRequest(
          version,
          allVersions,
          subkeys);
    }
  }
}
