// An item to decrypt or to rewrap.
package keystored.client;

import java.util.Objects;

/**
 * An item to decrypt or to rewrap, with the key's options unless it has its own.
 *
 * @param ciphertext the text
 * @param context of a derived key; may be null
 * @param associatedData with which it was encrypted; may be null
 * @param reference comes back with the result; may be null
 */
public record DecryptItem(String ciphertext, String context, byte[] associatedData, String reference) {
  /**
   * Throws NullPointerException, with a name, for an item that lacks what the action needs.
   *
   * @param ciphertext the text
   * @param context of a derived key; may be null
   * @param associatedData authenticated with the ciphertext and no part of it; may be null
   * @param reference comes back with the result; may be null
   */
  public DecryptItem {
    Objects.requireNonNull(ciphertext, "ciphertext");
  }

  /**
   * Makes an item without anything more.
   *
   * @param ciphertext the text
   * @return the item
   */
  public static DecryptItem of(String ciphertext) {
    return new DecryptItem(ciphertext, null, null, null);
  }
}
