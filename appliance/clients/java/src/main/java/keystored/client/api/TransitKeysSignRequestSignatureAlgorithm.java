// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Padding of RSA signatures; default pkcs1v15. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeysSignRequestSignatureAlgorithm(String value) {
  /** The value {@code pkcs1v15}. */
  public static final TransitKeysSignRequestSignatureAlgorithm PKCS1V15 = new TransitKeysSignRequestSignatureAlgorithm("pkcs1v15");

  /** The value {@code pss}. */
  public static final TransitKeysSignRequestSignatureAlgorithm PSS = new TransitKeysSignRequestSignatureAlgorithm("pss");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeysSignRequestSignatureAlgorithm {}

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
