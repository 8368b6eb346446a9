// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param id Id of the record, to find it at the receiver.
 * @param accepted Whether the receiver took it.
 * @param answer What the receiver said, or what to mend.
 * @param milliseconds How long it took.
 */
public record ShippingTestAnswer(
    @JsonProperty("id") String id,
    @JsonProperty("accepted") Boolean accepted,
    @JsonProperty("answer") String answer,
    @JsonProperty("milliseconds") Long milliseconds) {
}
