// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import keystored.client.ProblemException;

/**
 * A document of the API.
 *
 * @param plaintext The plaintext: base64, or raw UTF-8 with base64-encoded false. May be null: absent.
 * @param keyVersion Version of the key that was used. May be null: absent.
 * @param reference Echoed from the request. May be null: absent.
 * @param status Of a request that failed: the HTTP status it would have had. May be null: absent.
 * @param code Of a request that failed: the error code. May be null: absent.
 * @param errorMessage Of a request that failed: why. May be null: absent.
 */
public record DecryptBatchResult(
    @JsonProperty("plaintext") String plaintext,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("reference") String reference,
    @JsonProperty("status") Long status,
    @JsonProperty("code") String code,
    @JsonProperty("error-message") String errorMessage) {
  /**
   * Answers why the item failed.
   *
   * @return null when it did not
   */
  public ProblemException problem() {
    return code == null ? null : ProblemException.ofItem(status, code, errorMessage);
  }
}
