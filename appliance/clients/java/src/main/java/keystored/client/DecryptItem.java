// An item to decrypt or to rewrap.
package keystored.client;

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
   * Makes an item without anything more.
   *
   * @param ciphertext the text
   * @return the item
   */
  public static DecryptItem of(String ciphertext) {
    return new DecryptItem(ciphertext, null, null, null);
  }
}
