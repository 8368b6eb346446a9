// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record BackupStatusShowAnswerRunningPurpose(String value) {
  /** The value {@code request}. */
  public static final BackupStatusShowAnswerRunningPurpose REQUEST = new BackupStatusShowAnswerRunningPurpose("request");

  /** The value {@code pull}. */
  public static final BackupStatusShowAnswerRunningPurpose PULL = new BackupStatusShowAnswerRunningPurpose("pull");

  /** The value {@code schedule}. */
  public static final BackupStatusShowAnswerRunningPurpose SCHEDULE = new BackupStatusShowAnswerRunningPurpose("schedule");

  /** The value {@code now}. */
  public static final BackupStatusShowAnswerRunningPurpose NOW = new BackupStatusShowAnswerRunningPurpose("now");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public BackupStatusShowAnswerRunningPurpose {}

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
