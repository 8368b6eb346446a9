// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param chain Chain of one process.
 * @param sequence Number of its last signed record.
 * @param hash SHA-256 of that record.
 */
public record AuditHead(
    @JsonProperty("chain") String chain,
    @JsonProperty("sequence") Long sequence,
    @JsonProperty("hash") String hash) {
}
