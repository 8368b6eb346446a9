// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Size of an rsa key; default 3072. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record CertKeyBits(long value) {
  /** The value {@code 2048}. */
  public static final CertKeyBits V2048 = new CertKeyBits(2048L);

  /** The value {@code 3072}. */
  public static final CertKeyBits V3072 = new CertKeyBits(3072L);

  /** The value {@code 4096}. */
  public static final CertKeyBits V4096 = new CertKeyBits(4096L);

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public CertKeyBits {}

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
