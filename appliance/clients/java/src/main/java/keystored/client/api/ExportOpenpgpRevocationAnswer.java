// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param revocation Revocation certificate.
 * @param keyVersion Version that it revokes.
 */
public record ExportOpenpgpRevocationAnswer(
    @JsonProperty("revocation") String revocation,
    @JsonProperty("key-version") Long keyVersion) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ExportOpenpgpRevocationAnswer[…]";
  }
}
