// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * degraded: requests are served, and a person should act; down: some requests cannot be served. Later versions
 * may answer others.
 *
 * @param value as on the wire
 */
public record HealthAnswerStatus(String value) {
  /** The value {@code ok}. */
  public static final HealthAnswerStatus OK = new HealthAnswerStatus("ok");

  /** The value {@code degraded}. */
  public static final HealthAnswerStatus DEGRADED = new HealthAnswerStatus("degraded");

  /** The value {@code down}. */
  public static final HealthAnswerStatus DOWN = new HealthAnswerStatus("down");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public HealthAnswerStatus {}

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
