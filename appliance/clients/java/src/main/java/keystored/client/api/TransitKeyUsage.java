// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A document of the API.
 *
 * @param uses Encryptions, signatures and data keys made with this version. May be null: absent.
 * @param usesAtMost Of encryptions never below the true count, also after a crash; the limit of 2^32 is held
 * against it. May be null: absent.
 * @param notRewrapped At most so many values made with this version have not been moved away by rewrap: what a
 * worker has reserved counts until it gives it back, two minutes after the last encryption. A value that is
 * rewrapped again counts again. May be null: absent.
 * @param lastUsed When this version was last used. May be null: absent.
 */
public record TransitKeyUsage(
    @JsonProperty("uses") Long uses,
    @JsonProperty("uses-at-most") Long usesAtMost,
    @JsonProperty("not-rewrapped") Long notRewrapped,
    @JsonProperty("last-used") Instant lastUsed) {
}
