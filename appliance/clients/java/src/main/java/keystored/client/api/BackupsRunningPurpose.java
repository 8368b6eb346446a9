// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What it was begun for. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record BackupsRunningPurpose(String value) {
  /** The value {@code request}. */
  public static final BackupsRunningPurpose REQUEST = new BackupsRunningPurpose("request");

  /** The value {@code pull}. */
  public static final BackupsRunningPurpose PULL = new BackupsRunningPurpose("pull");

  /** The value {@code schedule}. */
  public static final BackupsRunningPurpose SCHEDULE = new BackupsRunningPurpose("schedule");

  /** The value {@code now}. */
  public static final BackupsRunningPurpose NOW = new BackupsRunningPurpose("now");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public BackupsRunningPurpose {}

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
