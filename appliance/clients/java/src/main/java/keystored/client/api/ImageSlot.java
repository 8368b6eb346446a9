// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param version A version of the image.
 * @param running Whether it is the one that runs.
 */
public record ImageSlot(
    @JsonProperty("version") String version,
    @JsonProperty("running") Boolean running) {
}
