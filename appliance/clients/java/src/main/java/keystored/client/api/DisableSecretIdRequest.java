// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param secretId The secret-id meant. May be null: absent.
 * @param accessor Or its accessor. May be null: absent.
 */
public record DisableSecretIdRequest(
    @JsonProperty("secret-id") String secretId,
    @JsonProperty("accessor") String accessor) {
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
    return "DisableSecretIdRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String secretId;
    private String accessor;

    private Builder() {}

    /**
     * The secret-id meant.
     *
     * @param value null: absent
     * @return this
     */
    public Builder secretId(String value) {
      secretId = value;
      return this;
    }

    /**
     * Or its accessor.
     *
     * @param value null: absent
     * @return this
     */
    public Builder accessor(String value) {
      accessor = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public DisableSecretIdRequest build() {
      return new DisableSecretIdRequest(
          secretId,
          accessor);
    }
  }
}
