// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TransitKeysListConfigCustody(String value) {
  /** The value {@code wrapped}. */
  public static final TransitKeysListConfigCustody WRAPPED = new TransitKeysListConfigCustody("wrapped");

  /** The value {@code token}. */
  public static final TransitKeysListConfigCustody TOKEN = new TransitKeysListConfigCustody("token");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TransitKeysListConfigCustody {}

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
