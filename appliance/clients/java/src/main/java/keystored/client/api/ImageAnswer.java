// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param isImage Whether the machine runs the bootable image. Elsewhere there is nothing but this field:
 * packages and containers are updated as such.
 * @param version A version of the image. May be null: absent.
 * @param slots What the two slots have. A slot that was never written is left out. May be null: absent.
 * @param trial Whether the version is on trial: `pending` until the daemon serves with it, `confirmed` in the
 * start that accepted it, `none` in later ones. May be null: absent.
 * @param lastUpdate What became of the update that was last offered since the machine started; in the words of
 * its screen. May be null: absent.
 */
public record ImageAnswer(
    @JsonProperty("is-image") Boolean isImage,
    @JsonProperty("version") String version,
    @JsonProperty("slots") List<ImageSlot> slots,
    @JsonProperty("trial") ImageAnswerTrial trial,
    @JsonProperty("last-update") String lastUpdate) {
}
