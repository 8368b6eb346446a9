// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The keys, for that token alone.
 *
 * @param hash The hash of RSA-OAEP.
 * @param wrapping The wrapping key under the transport key, in base64.
 * @param binding The binding key under the transport key, in base64.
 */
public record ClusterAdmitTokenKeysParcel(
    @JsonProperty("hash") OaepHash hash,
    @JsonProperty("wrapping") String wrapping,
    @JsonProperty("binding") String binding) {
}
