// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param keys One for each version.
 * @param keyVersion Newest version in the answer.
 */
public record ExportOpenpgpAnswer(
    @JsonProperty("keys") List<ExportedOpenpgpKey> keys,
    @JsonProperty("key-version") Long keyVersion) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ExportOpenpgpAnswer[…]";
  }
}
