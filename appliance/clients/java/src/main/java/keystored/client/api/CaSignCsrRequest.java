// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param csr PKCS#10 certification request, PEM.
 * @param ttl Life of the certificate; default est/ttl of the CA. May be null: absent.
 * @param usages What the certificate is for. May be null: absent.
 */
public record CaSignCsrRequest(
    @JsonProperty("csr") String csr,
    @JsonProperty("ttl") String ttl,
    @JsonProperty("usages") List<CaSignCsrRequestUsagesItem> usages) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param csr PKCS#10 certification request, PEM.
   * @return a builder
   */
  public static Builder builder(String csr) {
    Builder builder = new Builder();
    builder.csr = csr;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String csr;
    private String ttl;
    private List<CaSignCsrRequestUsagesItem> usages;

    private Builder() {}

    /**
     * Life of the certificate; default est/ttl of the CA.
     *
     * @param value null: absent
     * @return this
     */
    public Builder ttl(String value) {
      ttl = value;
      return this;
    }

    /**
     * What the certificate is for.
     *
     * @param value null: absent
     * @return this
     */
    public Builder usages(List<CaSignCsrRequestUsagesItem> value) {
      usages = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public CaSignCsrRequest build() {
      return new CaSignCsrRequest(
          csr,
          ttl,
          usages);
    }
  }
}
