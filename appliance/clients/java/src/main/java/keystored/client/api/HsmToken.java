// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param name Name of the token in the configuration. May be null: absent.
 * @param module Path of the PKCS#11 module. May be null: absent.
 * @param label Label of the token. May be null: absent.
 * @param serial Serial number of the token. May be null: absent.
 * @param manufacturer Manufacturer of the token. May be null: absent.
 * @param model Model of the token. May be null: absent.
 * @param state Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again. May be
 * null: absent.
 * @param reason Why it is not up, and how to correct it. May be null: absent.
 * @param keyTypes Key types that the token supports. May be null: absent.
 * @param mechanisms Mechanisms of the token. May be null: absent.
 * @param wrappingKey The key that wraps all others, and its last rotation. May be null: absent.
 * @param loadedKeys Keys loaded now. May be null: absent.
 * @param sessions Sessions of the answering worker, counted recently. May be null: absent.
 * @param latencies Time of recent calls by operation. May be null: absent.
 */
public record HsmToken(
    @JsonProperty("name") String name,
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
    @JsonProperty("loaded-keys") Long loadedKeys,
    @JsonProperty("sessions") HsmTokenSessions sessions,
    @JsonProperty("latencies") Map<String, HsmTokenLatency> latencies) {
}
