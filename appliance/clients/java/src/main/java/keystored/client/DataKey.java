// A data key, in clear and encrypted.
package keystored.client;

/**
 * Encrypts much data where it is: keep the ciphertext with the data, and forget the plaintext after use.
 *
 * @param plaintext the key in clear
 * @param ciphertext the key encrypted by the transit key, which opens it again
 * @param keyVersion of the transit key
 */
public record DataKey(byte[] plaintext, String ciphertext, long keyVersion) {
  /** Hides the plaintext. */
  @Override
  public String toString() {
    return "DataKey[" + ciphertext + "]";
  }
}
