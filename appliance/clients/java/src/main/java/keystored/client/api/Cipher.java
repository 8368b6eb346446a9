// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What the key is made of. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record Cipher(String value) {
  /** The value {@code aes128-gcm96}. */
  public static final Cipher AES128_GCM96 = new Cipher("aes128-gcm96");

  /** The value {@code aes192-gcm96}. */
  public static final Cipher AES192_GCM96 = new Cipher("aes192-gcm96");

  /** The value {@code aes256-gcm96}. */
  public static final Cipher AES256_GCM96 = new Cipher("aes256-gcm96");

  /** The value {@code rsa-2048}. */
  public static final Cipher RSA_2048 = new Cipher("rsa-2048");

  /** The value {@code rsa-3072}. */
  public static final Cipher RSA_3072 = new Cipher("rsa-3072");

  /** The value {@code rsa-4096}. */
  public static final Cipher RSA_4096 = new Cipher("rsa-4096");

  /** The value {@code ed25519}. */
  public static final Cipher ED25519 = new Cipher("ed25519");

  /** The value {@code ecdsa-p256}. */
  public static final Cipher ECDSA_P256 = new Cipher("ecdsa-p256");

  /** The value {@code ecdsa-p384}. */
  public static final Cipher ECDSA_P384 = new Cipher("ecdsa-p384");

  /** The value {@code ecdsa-p521}. */
  public static final Cipher ECDSA_P521 = new Cipher("ecdsa-p521");

  /** The value {@code ml-dsa-44}. */
  public static final Cipher ML_DSA_44 = new Cipher("ml-dsa-44");

  /** The value {@code ml-dsa-65}. */
  public static final Cipher ML_DSA_65 = new Cipher("ml-dsa-65");

  /** The value {@code ml-dsa-87}. */
  public static final Cipher ML_DSA_87 = new Cipher("ml-dsa-87");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public Cipher {}

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
