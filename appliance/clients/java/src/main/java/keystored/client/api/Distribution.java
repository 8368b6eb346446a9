// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Where the key goes; inherit means all. In a cluster every appliance has every key. Later versions may answer
 * others.
 *
 * @param value as on the wire
 */
public record Distribution(String value) {
  /** The value {@code all}. */
  public static final Distribution ALL = new Distribution("all");

  /** The value {@code none}. */
  public static final Distribution NONE = new Distribution("none");

  /** The value {@code inherit}. */
  public static final Distribution INHERIT = new Distribution("inherit");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public Distribution {}

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
