// An item to verify.
package keystored.client;

import java.util.Objects;

/**
 * An item to verify.
 *
 * @param data the octets
 * @param signature of the octets
 * @param reference comes back with the result; may be null
 */
public record VerifyItem(byte[] data, String signature, String reference) {
  /**
   * Throws NullPointerException, with a name, for an item that lacks what the action needs.
   *
   * @param data the octets
   * @param signature of the octets
   * @param reference comes back with the result; may be null
   */
  public VerifyItem {
    Objects.requireNonNull(data, "data");
    Objects.requireNonNull(signature, "signature");
  }

  /**
   * Makes an item without anything more.
   *
   * @param data the octets
   * @param signature of the octets
   * @return the item
   */
  public static VerifyItem of(byte[] data, String signature) {
    return new VerifyItem(data, signature, null);
  }
}
