// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * `open`: nobody has used it. `used`: its appliance was admitted and has not come in yet; within the hour it may
 * ask again. `over`: its appliance has come in, or was removed. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record InvitationState(String value) {
  /** The value {@code open}. */
  public static final InvitationState OPEN = new InvitationState("open");

  /** The value {@code used}. */
  public static final InvitationState USED = new InvitationState("used");

  /** The value {@code over}. */
  public static final InvitationState OVER = new InvitationState("over");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public InvitationState {}

  /**
   * Answers the value.
   *
   * @return as on the wire
   */
  @Override
  @JsonValue
  public String value() {
    return value;
  }

  @Override
  public String toString() {
    return String.valueOf(value);
  }
}
