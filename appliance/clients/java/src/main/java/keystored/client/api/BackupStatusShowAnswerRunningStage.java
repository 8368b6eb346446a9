// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record BackupStatusShowAnswerRunningStage(String value) {
  /** The value {@code copying}. */
  public static final BackupStatusShowAnswerRunningStage COPYING = new BackupStatusShowAnswerRunningStage("copying");

  /** The value {@code sending}. */
  public static final BackupStatusShowAnswerRunningStage SENDING = new BackupStatusShowAnswerRunningStage("sending");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public BackupStatusShowAnswerRunningStage {}

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
