// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * `rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept;
 * every start tries again. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record WrappingKeyState(String value) {
  /** The value {@code in-use}. */
  public static final WrappingKeyState IN_USE = new WrappingKeyState("in-use");

  /** The value {@code rewrapping}. */
  public static final WrappingKeyState REWRAPPING = new WrappingKeyState("rewrapping");

  /** The value {@code incomplete}. */
  public static final WrappingKeyState INCOMPLETE = new WrappingKeyState("incomplete");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public WrappingKeyState {}

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
