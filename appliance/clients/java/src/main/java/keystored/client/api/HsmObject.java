// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param label Label of the object.
 * @param kind Its class in PKCS#11.
 * @param sensitive Whether its value is never shown in clear.
 * @param extractable Whether it can leave the token wrapped.
 * @param modifiable Whether its attributes can be changed.
 * @param uses What the token allows it.
 * @param needless Those of them that its job does not need: of an earlier version, or changed since.
 */
public record HsmObject(
    @JsonProperty("label") String label,
    @JsonProperty("kind") HsmObjectKind kind,
    @JsonProperty("sensitive") Boolean sensitive,
    @JsonProperty("extractable") Boolean extractable,
    @JsonProperty("modifiable") Boolean modifiable,
    @JsonProperty("uses") List<String> uses,
    @JsonProperty("needless") List<String> needless) {
}
