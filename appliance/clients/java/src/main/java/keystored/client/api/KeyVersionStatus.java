// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What it may do: `active` everything, `pending` (it waits for activate-after) and `deprecated` only decrypt and
 * verify, `invalidated` nothing. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record KeyVersionStatus(String value) {
  /** The value {@code pending}. */
  public static final KeyVersionStatus PENDING = new KeyVersionStatus("pending");

  /** The value {@code active}. */
  public static final KeyVersionStatus ACTIVE = new KeyVersionStatus("active");

  /** The value {@code deprecated}. */
  public static final KeyVersionStatus DEPRECATED = new KeyVersionStatus("deprecated");

  /** The value {@code invalidated}. */
  public static final KeyVersionStatus INVALIDATED = new KeyVersionStatus("invalidated");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public KeyVersionStatus {}

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
