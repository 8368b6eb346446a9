// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param data PKCS#8, PKCS#1 or SEC1 as PEM, or base64 of DER; base64 for symmetric keys. May be null: absent.
 * @param ciphertext In place of data: wrapped under GET /v1/state/keystore/wrapping-key, or under the key of
 * import-wrapping-key. May be null: absent.
 * @param importId Of ciphertext: which key of import-wrapping-key it is wrapped under; unless given, that of the
 * tenant. May be null: absent.
 */
public record ImportRequest(
    @JsonProperty("data") String data,
    @JsonProperty("ciphertext") String ciphertext,
    @JsonProperty("import-id") String importId) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ImportRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String data;
    private String ciphertext;
    private String importId;

    private Builder() {}

    /**
     * PKCS#8, PKCS#1 or SEC1 as PEM, or base64 of DER; base64 for symmetric keys.
     *
     * @param value null: absent
     * @return this
     */
    public Builder data(String value) {
      data = value;
      return this;
    }

    /**
     * In place of data: wrapped under GET /v1/state/keystore/wrapping-key, or under the key of
     * import-wrapping-key.
     *
     * @param value null: absent
     * @return this
     */
    public Builder ciphertext(String value) {
      ciphertext = value;
      return this;
    }

    /**
     * Of ciphertext: which key of import-wrapping-key it is wrapped under; unless given, that of the tenant.
     *
     * @param value null: absent
     * @return this
     */
    public Builder importId(String value) {
      importId = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ImportRequest build() {
      return new ImportRequest(
          data,
          ciphertext,
          importId);
    }
  }
}
