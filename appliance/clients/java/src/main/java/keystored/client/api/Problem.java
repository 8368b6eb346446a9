// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * Why a request was refused (RFC 9457).
 *
 * @param type `urn:keystore:error:` and the code.
 * @param title The code in words.
 * @param status The HTTP status.
 * @param detail For people: field, rule and fix. Absent from 500 up. May be null: absent.
 * @param code The contract: kebab-case, never reused; see `x-errors`.
 * @param requestId Finds the request in logs.
 * @param errors One item for each thing that is wrong.
 */
public record Problem(
    @JsonProperty("type") String type,
    @JsonProperty("title") String title,
    @JsonProperty("status") Long status,
    @JsonProperty("detail") String detail,
    @JsonProperty("code") String code,
    @JsonProperty("request-id") String requestId,
    @JsonProperty("errors") List<ProblemItem> errors) {
}
