// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param status What it may do: `active` everything, `pending` (it waits for activate-after) and `deprecated`
 * only decrypt and verify, `invalidated` nothing. May be null: absent.
 * @param signatureAlgorithm Of a version that is a key for RSASSA-PSS (RFC 4055): `pss`, and it makes no other
 * signatures. May be null: absent.
 * @param hashAlgorithm Where such a key names a hash: the only one it signs with. May be null: absent.
 * @param created When it was made. May be null: absent.
 * @param activates When it begins to encrypt and sign; absent: when it was made. May be null: absent.
 * @param superseded When the next version was made. May be null: absent.
 * @param deprecates When deprecate-after ends its encryption. May be null: absent.
 * @param invalidates When invalidate-after ends its decryption. May be null: absent.
 */
public record TransitKeyVersion(
    @JsonProperty("status") KeyVersionStatus status,
    @JsonProperty("signature-algorithm") SignatureAlgorithm signatureAlgorithm,
    @JsonProperty("hash-algorithm") HashAlgorithm hashAlgorithm,
    @JsonProperty("created") Instant created,
    @JsonProperty("activates") Instant activates,
    @JsonProperty("superseded") Instant superseded,
    @JsonProperty("deprecates") Instant deprecates,
    @JsonProperty("invalidates") Instant invalidates) {
}
