// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Whether it works. `damaged`: its own keys are missing. A refused PIN is not tried again. Later versions may
 * answer others.
 *
 * @param value as on the wire
 */
public record HsmTokenState(String value) {
  /** The value {@code up}. */
  public static final HsmTokenState UP = new HsmTokenState("up");

  /** The value {@code damaged}. */
  public static final HsmTokenState DAMAGED = new HsmTokenState("damaged");

  /** The value {@code down}. */
  public static final HsmTokenState DOWN = new HsmTokenState("down");

  /** The value {@code pin-refused}. */
  public static final HsmTokenState PIN_REFUSED = new HsmTokenState("pin-refused");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public HsmTokenState {}

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
