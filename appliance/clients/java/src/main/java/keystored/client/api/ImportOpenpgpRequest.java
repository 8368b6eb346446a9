// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param name Name of the new transit key.
 * @param openpgp Public key block with one certificate: ASCII armor, or base64 of the packets; of these at most
 * 256 KiB.
 */
public record ImportOpenpgpRequest(
    @JsonProperty("name") String name,
    @JsonProperty("openpgp") String openpgp) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param name Name of the new transit key.
   * @param openpgp Public key block with one certificate: ASCII armor, or base64 of the packets; of these at
   * most 256 KiB.
   * @return a builder
   */
  public static Builder builder(String name, String openpgp) {
    Builder builder = new Builder();
    builder.name = name;
    builder.openpgp = openpgp;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String name;
    private String openpgp;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ImportOpenpgpRequest build() {
      return new ImportOpenpgpRequest(
          name,
          openpgp);
    }
  }
}
