// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Curve of an ecdsa key; default secp256r1. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record CertKeyCurve(String value) {
  /** The value {@code secp256r1}. */
  public static final CertKeyCurve SECP256R1 = new CertKeyCurve("secp256r1");

  /** The value {@code secp384r1}. */
  public static final CertKeyCurve SECP384R1 = new CertKeyCurve("secp384r1");

  /** The value {@code secp521r1}. */
  public static final CertKeyCurve SECP521R1 = new CertKeyCurve("secp521r1");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public CertKeyCurve {}

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
