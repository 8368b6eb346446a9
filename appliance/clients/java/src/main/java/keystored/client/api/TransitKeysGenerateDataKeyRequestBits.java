// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Size of the data key. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeysGenerateDataKeyRequestBits(long value) {
  /** The value {@code 128}. */
  public static final TransitKeysGenerateDataKeyRequestBits V128 = new TransitKeysGenerateDataKeyRequestBits(128L);

  /** The value {@code 256}. */
  public static final TransitKeysGenerateDataKeyRequestBits V256 = new TransitKeysGenerateDataKeyRequestBits(256L);

  /** The value {@code 512}. */
  public static final TransitKeysGenerateDataKeyRequestBits V512 = new TransitKeysGenerateDataKeyRequestBits(512L);

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeysGenerateDataKeyRequestBits {}

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
