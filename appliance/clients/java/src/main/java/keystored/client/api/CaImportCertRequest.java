// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param certificate PEM: the certificate of the CA first, then those above it.
 */
public record CaImportCertRequest(
    @JsonProperty("certificate") String certificate) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param certificate PEM: the certificate of the CA first, then those above it.
   * @return a builder
   */
  public static Builder builder(String certificate) {
    Builder builder = new Builder();
    builder.certificate = certificate;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String certificate;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public CaImportCertRequest build() {
      return new CaImportCertRequest(
          certificate);
    }
  }
}
