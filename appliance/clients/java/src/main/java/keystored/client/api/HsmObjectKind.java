// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Its class in PKCS#11. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record HsmObjectKind(String value) {
  /** The value {@code secret}. */
  public static final HsmObjectKind SECRET = new HsmObjectKind("secret");

  /** The value {@code private}. */
  public static final HsmObjectKind PRIVATE = new HsmObjectKind("private");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public HsmObjectKind {}

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
