// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param chain Chain of one process. May be null: absent.
 * @param sequence Number of its last signed record. May be null: absent.
 * @param hash SHA-256 of that record. May be null: absent.
 */
public record AuditHead(
    @JsonProperty("chain") String chain,
    @JsonProperty("sequence") Long sequence,
    @JsonProperty("hash") String hash) {
}
