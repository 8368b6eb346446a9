// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param revocations One for each version that a version of the primary key here has bound.
 */
public record UnbindSubkeyAnswer(
    @JsonProperty("revocations") List<UnbindSubkeyRevocation> revocations) {
  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "UnbindSubkeyAnswer[…]";
  }
}
