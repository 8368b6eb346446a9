// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param bytes The octets in the format asked for.
 */
public record RandomBytesAnswer(
    @JsonProperty("bytes") String bytes) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "RandomBytesAnswer[…]";
  }
}
