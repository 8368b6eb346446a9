// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param name Name of the new transit key.
 * @param cipher What the key in the block is.
 * @param fingerprints Of the primary key first, then of its subkeys.
 * @param keyVersion Its one version.
 * @param warnings What other programs refuse of the certificate; absent where there is nothing. May be null:
 * absent.
 */
public record ImportOpenpgpAnswer(
    @JsonProperty("name") String name,
    @JsonProperty("cipher") String cipher,
    @JsonProperty("fingerprints") List<String> fingerprints,
    @JsonProperty("key-version") Long keyVersion,
    @JsonProperty("warnings") List<String> warnings) {
}
