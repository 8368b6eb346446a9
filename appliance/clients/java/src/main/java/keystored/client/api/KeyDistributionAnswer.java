// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param keyVersion Version of the key that it is about.
 * @param complete Whether every appliance that was not removed holds it.
 * @param appliances Every appliance that was not removed, by name.
 */
public record KeyDistributionAnswer(
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("complete") Boolean complete,
    @JsonProperty("appliances") List<KeyDistributionAppliance> appliances) {
}
