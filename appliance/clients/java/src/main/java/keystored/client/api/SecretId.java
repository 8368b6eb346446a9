// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;

/**
 * A document of the API.
 *
 * @param accessor Stands for the secret-id where the secret itself must not be seen.
 * @param creationTime When it was made. May be null: absent.
 * @param expires When it ends; absent: never. May be null: absent.
 * @param usesLeft How often it can still be used; absent: as often as one likes. May be null: absent.
 * @param boundCidrs Ranges of addresses it can be used from; empty: from anywhere. May be null: absent.
 */
public record SecretId(
    @JsonProperty("accessor") String accessor,
    @JsonProperty("creation-time") Instant creationTime,
    @JsonProperty("expires") Instant expires,
    @JsonProperty("uses-left") Long usesLeft,
    @JsonProperty("bound-cidrs") List<String> boundCidrs) {
}
