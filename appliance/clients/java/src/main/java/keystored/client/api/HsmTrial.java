// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param name Name of the token in the configuration.
 * @param works Whether it drew random octets, and encrypted and decrypted with a key of its own.
 * @param milliseconds How long that took.
 * @param problem What went wrong. May be null: absent.
 * @param objects The first 200 persistent objects of this service, as they are in the token now.
 */
public record HsmTrial(
    @JsonProperty("name") String name,
    @JsonProperty("works") Boolean works,
    @JsonProperty("milliseconds") Double milliseconds,
    @JsonProperty("problem") String problem,
    @JsonProperty("objects") List<HsmObject> objects) {
}
