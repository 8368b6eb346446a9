// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record SignatureMarshaling(String value) {
  /** The value {@code asn1}. */
  public static final SignatureMarshaling ASN1 = new SignatureMarshaling("asn1");

  /** The value {@code jws}. */
  public static final SignatureMarshaling JWS = new SignatureMarshaling("jws");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public SignatureMarshaling {}

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
