// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record CaCertificatesListStatus(String value) {
  /** The value {@code valid}. */
  public static final CaCertificatesListStatus VALID = new CaCertificatesListStatus("valid");

  /** The value {@code expired}. */
  public static final CaCertificatesListStatus EXPIRED = new CaCertificatesListStatus("expired");

  /** The value {@code revoked}. */
  public static final CaCertificatesListStatus REVOKED = new CaCertificatesListStatus("revoked");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public CaCertificatesListStatus {}

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
