// An item to sign or to hash.
package keystored.client;

/**
 * An item to sign or to hash.
 *
 * @param data the octets
 * @param reference comes back with the result; may be null
 */
public record SignItem(byte[] data, String reference) {
  /**
   * Makes an item without anything more.
   *
   * @param data the octets
   * @return the item
   */
  public static SignItem of(byte[] data) {
    return new SignItem(data, null);
  }
}
