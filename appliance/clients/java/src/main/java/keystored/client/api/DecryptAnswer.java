// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param plaintext The plaintext: base64, or raw UTF-8 with base64-encoded false.
 * @param keyVersion Version of the key that was used.
 */
public record DecryptAnswer(
    @JsonProperty("plaintext") String plaintext,
    @JsonProperty("key-version") Long keyVersion) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "DecryptAnswer[…]";
  }
}
