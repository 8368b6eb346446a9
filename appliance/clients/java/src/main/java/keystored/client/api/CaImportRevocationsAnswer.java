// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param revoked Certificates that are revoked now and were not before.
 * @param neverIssued Serial numbers that the CA does not know, listed and refused from now on.
 * @param knownBefore Those that were revoked already.
 */
public record CaImportRevocationsAnswer(
    @JsonProperty("revoked") Long revoked,
    @JsonProperty("never-issued") Long neverIssued,
    @JsonProperty("known-before") Long knownBefore) {
}
