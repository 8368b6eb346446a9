// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What to do. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record SystemOperateRequestOperation(String value) {
  /** The value {@code reboot}. */
  public static final SystemOperateRequestOperation REBOOT = new SystemOperateRequestOperation("reboot");

  /** The value {@code power-off}. */
  public static final SystemOperateRequestOperation POWER_OFF = new SystemOperateRequestOperation("power-off");

  /** The value {@code factory-reset}. */
  public static final SystemOperateRequestOperation FACTORY_RESET = new SystemOperateRequestOperation("factory-reset");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public SystemOperateRequestOperation {}

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
