// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param name Name of the token in the configuration.
 * @param group The tokens with which it shares its keys; absent for a token by itself. May be null: absent.
 * @param module Path of the PKCS#11 module.
 * @param label Label of the token.
 * @param serial Serial number of the token.
 * @param manufacturer Manufacturer of the token.
 * @param model Model of the token.
 * @param state Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again.
 * @param reason Why it is not up, and how to correct it. May be null: absent.
 * @param keyTypes Key types that the token supports.
 * @param mechanisms Mechanisms of the token.
 * @param wrappingKey The key that wraps all others, and its last rotation.
 * @param ownPin Whether the appliance chose its user PIN and keeps it; then `change-pin` replaces it.
 * @param loadedKeys Keys loaded now.
 * @param sessions Sessions of the answering worker, counted recently.
 * @param latencies Time of recent calls by operation.
 */
public record HsmToken(
    @JsonProperty("name") String name,
    @JsonProperty("group") HsmTokenGroup group,
    @JsonProperty("module") String module,
    @JsonProperty("label") String label,
    @JsonProperty("serial") String serial,
    @JsonProperty("manufacturer") String manufacturer,
    @JsonProperty("model") String model,
    @JsonProperty("state") HsmTokenState state,
    @JsonProperty("reason") String reason,
    @JsonProperty("key-types") List<String> keyTypes,
    @JsonProperty("mechanisms") List<String> mechanisms,
    @JsonProperty("wrapping-key") HsmTokenWrappingKey wrappingKey,
    @JsonProperty("own-pin") Boolean ownPin,
    @JsonProperty("loaded-keys") Long loadedKeys,
    @JsonProperty("sessions") HsmTokenSessions sessions,
    @JsonProperty("latencies") Map<String, HsmTokenLatency> latencies) {
}
