// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Where each appliance has a token: whether the wrapping key, which the token of the removed one has, is being
 * rotated, or was `rotated` by an earlier request; `unchanged`: it could not be, as system:logs says, and is to
 * be rotated by hand. Absent where all reach one HSM. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record WrappingKeyAfterRemoval(String value) {
  /** The value {@code rotating}. */
  public static final WrappingKeyAfterRemoval ROTATING = new WrappingKeyAfterRemoval("rotating");

  /** The value {@code rotated}. */
  public static final WrappingKeyAfterRemoval ROTATED = new WrappingKeyAfterRemoval("rotated");

  /** The value {@code unchanged}. */
  public static final WrappingKeyAfterRemoval UNCHANGED = new WrappingKeyAfterRemoval("unchanged");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public WrappingKeyAfterRemoval {}

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
