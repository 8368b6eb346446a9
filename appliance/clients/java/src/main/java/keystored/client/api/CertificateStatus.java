// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What it is worth now. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record CertificateStatus(String value) {
  /** The value {@code valid}. */
  public static final CertificateStatus VALID = new CertificateStatus("valid");

  /** The value {@code expired}. */
  public static final CertificateStatus EXPIRED = new CertificateStatus("expired");

  /** The value {@code revoked}. */
  public static final CertificateStatus REVOKED = new CertificateStatus("revoked");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public CertificateStatus {}

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
