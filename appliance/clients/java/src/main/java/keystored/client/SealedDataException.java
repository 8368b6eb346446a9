// Sealed data that cannot be opened.
package keystored.client;

import java.io.IOException;

/**
 * Sealed data cannot be opened: it was changed, reordered, cut off or extended, its header is of other data, or another data key sealed it.
 */
public final class SealedDataException extends IOException {
  private static final long serialVersionUID = 1;

  /**
   * Says what is wrong.
   *
   * @param message for people
   */
  public SealedDataException(String message) {
    super(message);
  }
}
