// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Why. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record ExportOpenpgpRevocationRequestReason(String value) {
  /** The value {@code no-reason}. */
  public static final ExportOpenpgpRevocationRequestReason NO_REASON = new ExportOpenpgpRevocationRequestReason("no-reason");

  /** The value {@code superseded}. */
  public static final ExportOpenpgpRevocationRequestReason SUPERSEDED = new ExportOpenpgpRevocationRequestReason("superseded");

  /** The value {@code compromised}. */
  public static final ExportOpenpgpRevocationRequestReason COMPROMISED = new ExportOpenpgpRevocationRequestReason("compromised");

  /** The value {@code retired}. */
  public static final ExportOpenpgpRevocationRequestReason RETIRED = new ExportOpenpgpRevocationRequestReason("retired");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ExportOpenpgpRevocationRequestReason {}

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
