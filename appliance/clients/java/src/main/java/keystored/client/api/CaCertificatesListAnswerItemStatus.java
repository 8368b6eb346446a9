// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What it is worth now. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record CaCertificatesListAnswerItemStatus(String value) {
  /** The value {@code valid}. */
  public static final CaCertificatesListAnswerItemStatus VALID = new CaCertificatesListAnswerItemStatus("valid");

  /** The value {@code expired}. */
  public static final CaCertificatesListAnswerItemStatus EXPIRED = new CaCertificatesListAnswerItemStatus("expired");

  /** The value {@code revoked}. */
  public static final CaCertificatesListAnswerItemStatus REVOKED = new CaCertificatesListAnswerItemStatus("revoked");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public CaCertificatesListAnswerItemStatus {}

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
