// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeysListConfigUse(String value) {
  /** The value {@code encrypt}. */
  public static final TransitKeysListConfigUse ENCRYPT = new TransitKeysListConfigUse("encrypt");

  /** The value {@code sign}. */
  public static final TransitKeysListConfigUse SIGN = new TransitKeysListConfigUse("sign");

  /** The value {@code verify}. */
  public static final TransitKeysListConfigUse VERIFY = new TransitKeysListConfigUse("verify");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeysListConfigUse {}

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
