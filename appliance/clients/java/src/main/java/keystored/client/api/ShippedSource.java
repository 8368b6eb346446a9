// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record ShippedSource(String value) {
  /** The value {@code audit}. */
  public static final ShippedSource AUDIT = new ShippedSource("audit");

  /** The value {@code logs}. */
  public static final ShippedSource LOGS = new ShippedSource("logs");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ShippedSource {}

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
