// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What happens when `max-lag-bytes` is reached. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record ShippingLagPolicy(String value) {
  /** The value {@code continue}. */
  public static final ShippingLagPolicy CONTINUE = new ShippingLagPolicy("continue");

  /** The value {@code block}. */
  public static final ShippingLagPolicy BLOCK = new ShippingLagPolicy("block");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ShippingLagPolicy {}

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
