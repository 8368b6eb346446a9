// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Distribution of the key.
 *
 * @param to Where the key goes; inherit means all. In a cluster every appliance has every key. May be null:
 * absent.
 */
public record TransitKeyDistribute(
    @JsonProperty("to") Distribution to) {
}
