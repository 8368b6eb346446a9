// An item to sign or to hash.
package keystored.client;

import java.util.Objects;

/**
 * An item to sign or to hash.
 *
 * @param data the octets
 * @param reference comes back with the result; may be null
 */
public record SignItem(byte[] data, String reference) {
  /**
   * Throws NullPointerException, with a name, for an item that lacks what the action needs.
   *
   * @param data the octets
   * @param reference comes back with the result; may be null
   */
  public SignItem {
    Objects.requireNonNull(data, "data");
  }

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
