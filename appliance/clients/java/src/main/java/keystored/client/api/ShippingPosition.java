// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param chain Chain of the audit trail. May be null: absent.
 * @param file File of the last confirmed record. May be null: absent.
 * @param offset Octet of the file behind it. May be null: absent.
 * @param sequence Its number in the chain. May be null: absent.
 * @param lagRecords Records of the chain after it. May be null: absent.
 */
public record ShippingPosition(
    @JsonProperty("chain") String chain,
    @JsonProperty("file") String file,
    @JsonProperty("offset") Long offset,
    @JsonProperty("sequence") Long sequence,
    @JsonProperty("lag-records") Long lagRecords) {
}
