// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeysListConfigCipher(String value) {
  /** The value {@code aes128-gcm96}. */
  public static final TransitKeysListConfigCipher AES128_GCM96 = new TransitKeysListConfigCipher("aes128-gcm96");

  /** The value {@code aes192-gcm96}. */
  public static final TransitKeysListConfigCipher AES192_GCM96 = new TransitKeysListConfigCipher("aes192-gcm96");

  /** The value {@code aes256-gcm96}. */
  public static final TransitKeysListConfigCipher AES256_GCM96 = new TransitKeysListConfigCipher("aes256-gcm96");

  /** The value {@code rsa-2048}. */
  public static final TransitKeysListConfigCipher RSA_2048 = new TransitKeysListConfigCipher("rsa-2048");

  /** The value {@code rsa-3072}. */
  public static final TransitKeysListConfigCipher RSA_3072 = new TransitKeysListConfigCipher("rsa-3072");

  /** The value {@code rsa-4096}. */
  public static final TransitKeysListConfigCipher RSA_4096 = new TransitKeysListConfigCipher("rsa-4096");

  /** The value {@code ed25519}. */
  public static final TransitKeysListConfigCipher ED25519 = new TransitKeysListConfigCipher("ed25519");

  /** The value {@code ecdsa-p256}. */
  public static final TransitKeysListConfigCipher ECDSA_P256 = new TransitKeysListConfigCipher("ecdsa-p256");

  /** The value {@code ecdsa-p384}. */
  public static final TransitKeysListConfigCipher ECDSA_P384 = new TransitKeysListConfigCipher("ecdsa-p384");

  /** The value {@code ecdsa-p521}. */
  public static final TransitKeysListConfigCipher ECDSA_P521 = new TransitKeysListConfigCipher("ecdsa-p521");

  /** The value {@code ml-dsa-44}. */
  public static final TransitKeysListConfigCipher ML_DSA_44 = new TransitKeysListConfigCipher("ml-dsa-44");

  /** The value {@code ml-dsa-65}. */
  public static final TransitKeysListConfigCipher ML_DSA_65 = new TransitKeysListConfigCipher("ml-dsa-65");

  /** The value {@code ml-dsa-87}. */
  public static final TransitKeysListConfigCipher ML_DSA_87 = new TransitKeysListConfigCipher("ml-dsa-87");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeysListConfigCipher {}

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
