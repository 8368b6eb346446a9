// An item to encrypt.
package keystored.client;

import java.util.Objects;

/**
 * An item to encrypt, with the key's options unless it has its own.
 *
 * @param plaintext the octets
 * @param context of a derived key; may be null
 * @param associatedData authenticated with the ciphertext and no part of it; may be null
 * @param reference comes back with the result; may be null
 */
public record EncryptItem(byte[] plaintext, String context, byte[] associatedData, String reference) {
  /**
   * Throws NullPointerException, with a name, for an item that lacks what the action needs.
   *
   * @param plaintext the octets
   * @param context of a derived key; may be null
   * @param associatedData authenticated with the ciphertext and no part of it; may be null
   * @param reference comes back with the result; may be null
   */
  public EncryptItem {
    Objects.requireNonNull(plaintext, "plaintext");
  }

  /**
   * Makes an item without anything more.
   *
   * @param plaintext the octets
   * @return the item
   */
  public static EncryptItem of(byte[] plaintext) {
    return new EncryptItem(plaintext, null, null, null);
  }
}
