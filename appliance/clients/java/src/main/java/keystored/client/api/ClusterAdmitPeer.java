// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Among the members of etcd.
 *
 * @param certificate PEM.
 * @param authority The CA that issued it and the others of its kind, PEM.
 * @param revocations Its revocation list, DER in base64.
 */
public record ClusterAdmitPeer(
    @JsonProperty("certificate") String certificate,
    @JsonProperty("authority") String authority,
    @JsonProperty("revocations") String revocations) {
}
