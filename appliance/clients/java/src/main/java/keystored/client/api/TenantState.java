// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param name Name of the tenant.
 * @param descriptiveName A name for people. May be null: absent.
 * @param kind What the tenant is; there is one system tenant. May be null: absent.
 * @param policies What the whole tenant may do at most; default by kind. May be null: absent.
 * @param requestsPerMinute Requests that the tenant may send in a minute to one appliance; 0: as many as it
 * likes. May be null: absent.
 * @param tokenSecondsPerMinute Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as
 * many as it likes. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 * @param uuid Stands for the tenant in EST paths. May be null: absent.
 * @param creationTime When the tenant was made. May be null: absent.
 * @param rootTokenIssued Whether the one root token of the tenant was made. May be null: absent.
 */
public record TenantState(
    @JsonProperty("name") String name,
    @JsonProperty("descriptive-name") String descriptiveName,
    @JsonProperty("kind") TenantKind kind,
    @JsonProperty("policies") List<String> policies,
    @JsonProperty("requests-per-minute") Long requestsPerMinute,
    @JsonProperty("token-seconds-per-minute") Long tokenSecondsPerMinute,
    @JsonProperty("labels") Map<String, String> labels,
    @JsonProperty("uuid") String uuid,
    @JsonProperty("creation-time") Instant creationTime,
    @JsonProperty("root-token-issued") Boolean rootTokenIssued) {
}
