// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param invitations The newest last.
 */
public record ClusterInvitationsAnswer(
    @JsonProperty("invitations") List<ClusterInvitation> invitations) {
}
