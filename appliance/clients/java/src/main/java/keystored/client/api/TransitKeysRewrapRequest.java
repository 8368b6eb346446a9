// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param ciphertext What encrypt answered. May be null: absent.
 * @param context Required for derived keys: the same text again to decrypt. May be null: absent.
 * @param associatedData Authenticated with the ciphertext, not part of it: the same again to decrypt. May be
 * null: absent.
 * @param keyVersion Version to use; default: the version in use. May be null: absent.
 * @param batchInput 1 to 1,000 requests, each with the fields of a single one and optionally `reference`. May be
 * null: absent.
 */
public record TransitKeysRewrapRequest(
    @JsonProperty("ciphertext") String ciphertext,
    @JsonProperty("context") String context,
    @JsonProperty("associated-data") String associatedData,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("batch-input") List<Map<String, Object>> batchInput) {
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
    return "TransitKeysRewrapRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String ciphertext;
    private String context;
    private String associatedData;
    private Long keyVersion;
    private List<Map<String, Object>> batchInput;

    private Builder() {}

    /**
     * What encrypt answered.
     *
     * @param value null: absent
     * @return this
     */
    public Builder ciphertext(String value) {
      ciphertext = value;
      return this;
    }

    /**
     * Required for derived keys: the same text again to decrypt.
     *
     * @param value null: absent
     * @return this
     */
    public Builder context(String value) {
      context = value;
      return this;
    }

    /**
     * Authenticated with the ciphertext, not part of it: the same again to decrypt.
     *
     * @param value null: absent
     * @return this
     */
    public Builder associatedData(String value) {
      associatedData = value;
      return this;
    }

    /**
     * Version to use; default: the version in use.
     *
     * @param value null: absent
     * @return this
     */
    public Builder keyVersion(Long value) {
      keyVersion = value;
      return this;
    }

    /**
     * 1 to 1,000 requests, each with the fields of a single one and optionally `reference`.
     *
     * @param value null: absent
     * @return this
     */
    public Builder batchInput(List<Map<String, Object>> value) {
      batchInput = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeysRewrapRequest build() {
      return new TransitKeysRewrapRequest(
          ciphertext,
          context,
          associatedData,
          keyVersion,
          batchInput);
    }
  }
}
