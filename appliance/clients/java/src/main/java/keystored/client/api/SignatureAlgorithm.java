// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only. Later versions may answer
 * others.
 *
 * @param value as on the wire
 */
public record SignatureAlgorithm(String value) {
  /** The value {@code pkcs1v15}. */
  public static final SignatureAlgorithm PKCS1V15 = new SignatureAlgorithm("pkcs1v15");

  /** The value {@code pss}. */
  public static final SignatureAlgorithm PSS = new SignatureAlgorithm("pss");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public SignatureAlgorithm {}

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
