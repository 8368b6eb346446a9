// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * plaintext: the answer also has the data key in clear. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record GenerateDataKeyRequestType(String value) {
  /** The value {@code plaintext}. */
  public static final GenerateDataKeyRequestType PLAINTEXT = new GenerateDataKeyRequestType("plaintext");

  /** The value {@code wrapped}. */
  public static final GenerateDataKeyRequestType WRAPPED = new GenerateDataKeyRequestType("wrapped");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public GenerateDataKeyRequestType {}

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
