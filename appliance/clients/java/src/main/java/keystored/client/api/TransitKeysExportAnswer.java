// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param keys Version to key material; with format openpgp a list of blocks.
 * @param keyVersion Newest version in the answer.
 */
public record TransitKeysExportAnswer(
    @JsonProperty("keys") Object keys,
    @JsonProperty("key-version") Long keyVersion) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "TransitKeysExportAnswer[…]";
  }
}
