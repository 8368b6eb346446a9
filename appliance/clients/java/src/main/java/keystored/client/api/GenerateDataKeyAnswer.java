// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param ciphertext The data key, encrypted.
 * @param plaintext The data key in clear, with type plaintext. May be null: absent.
 * @param keyVersion Version of the key that was used.
 */
public record GenerateDataKeyAnswer(
    @JsonProperty("ciphertext") String ciphertext,
    @JsonProperty("plaintext") String plaintext,
    @JsonProperty("key-version") Long keyVersion) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "GenerateDataKeyAnswer[…]";
  }
}
