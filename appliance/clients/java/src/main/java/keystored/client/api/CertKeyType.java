// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Key of the CA; default ecdsa. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record CertKeyType(String value) {
  /** The value {@code ecdsa}. */
  public static final CertKeyType ECDSA = new CertKeyType("ecdsa");

  /** The value {@code rsa}. */
  public static final CertKeyType RSA = new CertKeyType("rsa");

  /** The value {@code ed25519}. */
  public static final CertKeyType ED25519 = new CertKeyType("ed25519");

  /** The value {@code ml-dsa-44}. */
  public static final CertKeyType ML_DSA_44 = new CertKeyType("ml-dsa-44");

  /** The value {@code ml-dsa-65}. */
  public static final CertKeyType ML_DSA_65 = new CertKeyType("ml-dsa-65");

  /** The value {@code ml-dsa-87}. */
  public static final CertKeyType ML_DSA_87 = new CertKeyType("ml-dsa-87");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public CertKeyType {}

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
