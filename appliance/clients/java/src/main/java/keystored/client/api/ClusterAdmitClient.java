// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * For the shared store.
 *
 * @param certificate PEM.
 * @param authority The CA that issued it and the others of its kind, PEM.
 * @param revocations Its revocation list, DER in base64.
 */
public record ClusterAdmitClient(
    @JsonProperty("certificate") String certificate,
    @JsonProperty("authority") String authority,
    @JsonProperty("revocations") String revocations) {
}
