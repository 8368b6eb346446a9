// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Distribution as it is.
 *
 * @param to Where the key is. May be null: absent.
 */
public record TransitKeyDistributionStatus(
    @JsonProperty("to") TransitKeyDistributionStatusTo to) {
}
