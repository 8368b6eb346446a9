// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param keys Version to key material.
 * @param keyVersion Newest version in the answer.
 */
public record ExportAnswer(
    @JsonProperty("keys") Map<String, String> keys,
    @JsonProperty("key-version") Long keyVersion) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ExportAnswer[…]";
  }
}
