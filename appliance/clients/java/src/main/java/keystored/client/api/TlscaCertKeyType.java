// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Key of the CA; default ecdsa. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TlscaCertKeyType(String value) {
  /** The value {@code ecdsa}. */
  public static final TlscaCertKeyType ECDSA = new TlscaCertKeyType("ecdsa");

  /** The value {@code rsa}. */
  public static final TlscaCertKeyType RSA = new TlscaCertKeyType("rsa");

  /** The value {@code ed25519}. */
  public static final TlscaCertKeyType ED25519 = new TlscaCertKeyType("ed25519");

  /** The value {@code ml-dsa-44}. */
  public static final TlscaCertKeyType ML_DSA_44 = new TlscaCertKeyType("ml-dsa-44");

  /** The value {@code ml-dsa-65}. */
  public static final TlscaCertKeyType ML_DSA_65 = new TlscaCertKeyType("ml-dsa-65");

  /** The value {@code ml-dsa-87}. */
  public static final TlscaCertKeyType ML_DSA_87 = new TlscaCertKeyType("ml-dsa-87");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TlscaCertKeyType {}

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
