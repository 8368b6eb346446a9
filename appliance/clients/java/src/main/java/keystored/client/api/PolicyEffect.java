// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Whether anything may be done that no other field here says. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record PolicyEffect(String value) {
  /** The value {@code allow}. */
  public static final PolicyEffect ALLOW = new PolicyEffect("allow");

  /** The value {@code reject}. */
  public static final PolicyEffect REJECT = new PolicyEffect("reject");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public PolicyEffect {}

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
