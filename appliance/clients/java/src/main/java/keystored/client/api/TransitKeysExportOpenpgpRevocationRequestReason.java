// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Why. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeysExportOpenpgpRevocationRequestReason(String value) {
  /** The value {@code no-reason}. */
  public static final TransitKeysExportOpenpgpRevocationRequestReason NO_REASON = new TransitKeysExportOpenpgpRevocationRequestReason("no-reason");

  /** The value {@code superseded}. */
  public static final TransitKeysExportOpenpgpRevocationRequestReason SUPERSEDED = new TransitKeysExportOpenpgpRevocationRequestReason("superseded");

  /** The value {@code compromised}. */
  public static final TransitKeysExportOpenpgpRevocationRequestReason COMPROMISED = new TransitKeysExportOpenpgpRevocationRequestReason("compromised");

  /** The value {@code retired}. */
  public static final TransitKeysExportOpenpgpRevocationRequestReason RETIRED = new TransitKeysExportOpenpgpRevocationRequestReason("retired");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeysExportOpenpgpRevocationRequestReason {}

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
