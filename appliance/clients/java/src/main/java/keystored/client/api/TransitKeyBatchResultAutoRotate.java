// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Rotates the key by itself; a merge cannot remove it, a replacement can.
 *
 * @param rotateAfter Interval after which the key is rotated, again and again.
 * @param activateAfter Delay after a rotation before the new version encrypts. May be null: absent.
 * @param deprecateAfter Time after the creation of a newer version when the old one stops encrypting. May be
 * null: absent.
 * @param invalidateAfter Time after the creation of a newer version when the old one stops decrypting. May be
 * null: absent.
 */
public record TransitKeyBatchResultAutoRotate(
    @JsonProperty("rotate-after") String rotateAfter,
    @JsonProperty("activate-after") String activateAfter,
    @JsonProperty("deprecate-after") String deprecateAfter,
    @JsonProperty("invalidate-after") String invalidateAfter) {
}
