// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;

/**
 * A document of the API.
 *
 * @param name Name of the destination in the configuration.
 * @param protocol What the receiver speaks. May be null: absent.
 * @param address Host and port of the receiver. May be null: absent.
 * @param sources What is shipped there. May be null: absent.
 * @param onLag What happens when `max-lag-bytes` is reached. May be null: absent.
 * @param maxLagBytes Octets of the audit trail that the receiver may lack. May be null: absent.
 * @param connected Whether the receiver takes records. May be null: absent.
 * @param connectedSince When it took something for the first time since the last failure. May be null: absent.
 * @param lastError The last failure, also when the receiver takes records again. May be null: absent.
 * @param blocking Whether changes and uses of keys are refused because of this destination. May be null: absent.
 * @param lagRecords Records of the audit trail that the receiver has not confirmed. May be null: absent.
 * @param lagBytes Octets of the audit trail that it has not confirmed. May be null: absent.
 * @param logLagBytes Octets of the logs that it has not confirmed. May be null: absent.
 * @param lagSeconds Age of the oldest record that it has not confirmed. May be null: absent.
 * @param sent Records that the receiver has confirmed. May be null: absent.
 * @param resent Records that were sent again, because nothing said that they had arrived. May be null: absent.
 * @param dropped Records of the audit trail that were removed before they were sent. May be null: absent.
 * @param droppedLogFiles Files of logs that were removed before they were read. May be null: absent.
 * @param rejected Records that the receiver refuses for what they are. May be null: absent.
 * @param errors Failures of the connection or the receiver. May be null: absent.
 * @param positions The last confirmed record of every chain. May be null: absent.
 */
public record ShippingAnswer(
    @JsonProperty("name") String name,
    @JsonProperty("protocol") ShippingProtocol protocol,
    @JsonProperty("address") String address,
    @JsonProperty("sources") List<ShippedSource> sources,
    @JsonProperty("on-lag") ShippingLagPolicy onLag,
    @JsonProperty("max-lag-bytes") Long maxLagBytes,
    @JsonProperty("connected") Boolean connected,
    @JsonProperty("connected-since") Instant connectedSince,
    @JsonProperty("last-error") ShippingLastError lastError,
    @JsonProperty("blocking") Boolean blocking,
    @JsonProperty("lag-records") Long lagRecords,
    @JsonProperty("lag-bytes") Long lagBytes,
    @JsonProperty("log-lag-bytes") Long logLagBytes,
    @JsonProperty("lag-seconds") Double lagSeconds,
    @JsonProperty("sent") Long sent,
    @JsonProperty("resent") Long resent,
    @JsonProperty("dropped") Long dropped,
    @JsonProperty("dropped-log-files") Long droppedLogFiles,
    @JsonProperty("rejected") Long rejected,
    @JsonProperty("errors") Long errors,
    @JsonProperty("positions") List<ShippingPosition> positions) {
}
