// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param crl The list: base64 of its DER, or PEM. May be null: absent.
 * @param serials Serial numbers. May be null: absent.
 */
public record CaImportRevocationsRequest(
    @JsonProperty("crl") String crl,
    @JsonProperty("serials") List<String> serials) {
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
    private String crl;
    private List<String> serials;

    private Builder() {}

    /**
     * The list: base64 of its DER, or PEM.
     *
     * @param value null: absent
     * @return this
     */
    public Builder crl(String value) {
      crl = value;
      return this;
    }

    /**
     * Serial numbers.
     *
     * @param value null: absent
     * @return this
     */
    public Builder serials(List<String> value) {
      serials = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public CaImportRevocationsRequest build() {
      return new CaImportRevocationsRequest(
          crl,
          serials);
    }
  }
}
