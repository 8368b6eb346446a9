// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Hash of the text, for RSA and ECDSA. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record HashAlgorithm(String value) {
  /** The value {@code sha256}. */
  public static final HashAlgorithm SHA256 = new HashAlgorithm("sha256");

  /** The value {@code sha384}. */
  public static final HashAlgorithm SHA384 = new HashAlgorithm("sha384");

  /** The value {@code sha512}. */
  public static final HashAlgorithm SHA512 = new HashAlgorithm("sha512");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public HashAlgorithm {}

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
