// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Default: PKCS#8 PEM, or base64 for symmetric keys. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeysExportRequestFormat(String value) {
  /** The value {@code openpgp}. */
  public static final TransitKeysExportRequestFormat OPENPGP = new TransitKeysExportRequestFormat("openpgp");

  /** The value {@code wrapped}. */
  public static final TransitKeysExportRequestFormat WRAPPED = new TransitKeysExportRequestFormat("wrapped");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeysExportRequestFormat {}

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
