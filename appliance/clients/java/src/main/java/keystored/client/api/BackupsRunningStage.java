// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Whether the store is still copied. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record BackupsRunningStage(String value) {
  /** The value {@code copying}. */
  public static final BackupsRunningStage COPYING = new BackupsRunningStage("copying");

  /** The value {@code sending}. */
  public static final BackupsRunningStage SENDING = new BackupsRunningStage("sending");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public BackupsRunningStage {}

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
