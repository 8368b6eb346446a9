// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * When ready; absent for a token that has the keys already.
 *
 * @param number Number of the wrapping key.
 * @param carrying The carrying by which it came into the tokens.
 * @param marks What the token has to make with the keys that it has taken.
 * @param parcel The keys, for that token alone.
 */
public record ClusterAdmitTokenKeys(
    @JsonProperty("number") Long number,
    @JsonProperty("carrying") String carrying,
    @JsonProperty("marks") ClusterAdmitTokenKeysMarks marks,
    @JsonProperty("parcel") ClusterAdmitTokenKeysParcel parcel) {
}
