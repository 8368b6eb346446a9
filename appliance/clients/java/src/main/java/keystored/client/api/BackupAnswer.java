// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param key Definition and key material in clear, for restore.
 * @param keyVersion Latest version in the backup.
 */
public record BackupAnswer(
    @JsonProperty("key") String key,
    @JsonProperty("key-version") Long keyVersion) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "BackupAnswer[…]";
  }
}
