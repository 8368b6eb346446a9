// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * `waiting`: another rotation comes first. `rewrapping`: the keys are wrapped again. `ready`: the appliance may
 * be admitted. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TokenAdmissionState(String value) {
  /** The value {@code waiting}. */
  public static final TokenAdmissionState WAITING = new TokenAdmissionState("waiting");

  /** The value {@code rewrapping}. */
  public static final TokenAdmissionState REWRAPPING = new TokenAdmissionState("rewrapping");

  /** The value {@code ready}. */
  public static final TokenAdmissionState READY = new TokenAdmissionState("ready");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TokenAdmissionState {}

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
