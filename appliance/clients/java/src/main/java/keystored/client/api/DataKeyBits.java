// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Size of the data key. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record DataKeyBits(long value) {
  /** The value {@code 128}. */
  public static final DataKeyBits V128 = new DataKeyBits(128L);

  /** The value {@code 256}. */
  public static final DataKeyBits V256 = new DataKeyBits(256L);

  /** The value {@code 512}. */
  public static final DataKeyBits V512 = new DataKeyBits(512L);

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public DataKeyBits {}

  /**
   * Answers the value.
   *
   * @return as on the wire
   */
  @Override
  @JsonValue
  public long value() {
    return value;
  }

  @Override
  public String toString() {
    return String.valueOf(value);
  }
}
