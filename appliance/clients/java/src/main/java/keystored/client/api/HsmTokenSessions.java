// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Sessions of the answering worker, counted recently.
 *
 * @param size Sessions that may be open.
 * @param busy Sessions in use.
 * @param waiting Calls that wait for a session.
 */
public record HsmTokenSessions(
    @JsonProperty("size") Long size,
    @JsonProperty("busy") Long busy,
    @JsonProperty("waiting") Long waiting) {
}
