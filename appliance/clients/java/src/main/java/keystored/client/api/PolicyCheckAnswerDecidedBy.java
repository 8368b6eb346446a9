// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Whose policies decided, since both must allow; `service`: what it asks of every caller there. Later versions
 * may answer others.
 *
 * @param value as on the wire
 */
public record PolicyCheckAnswerDecidedBy(String value) {
  /** The value {@code tenant}. */
  public static final PolicyCheckAnswerDecidedBy TENANT = new PolicyCheckAnswerDecidedBy("tenant");

  /** The value {@code token}. */
  public static final PolicyCheckAnswerDecidedBy TOKEN = new PolicyCheckAnswerDecidedBy("token");

  /** The value {@code service}. */
  public static final PolicyCheckAnswerDecidedBy SERVICE = new PolicyCheckAnswerDecidedBy("service");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public PolicyCheckAnswerDecidedBy {}

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
