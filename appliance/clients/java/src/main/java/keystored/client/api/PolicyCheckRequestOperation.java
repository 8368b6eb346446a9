// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What would be done there. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record PolicyCheckRequestOperation(String value) {
  /** The value {@code create}. */
  public static final PolicyCheckRequestOperation CREATE = new PolicyCheckRequestOperation("create");

  /** The value {@code read}. */
  public static final PolicyCheckRequestOperation READ = new PolicyCheckRequestOperation("read");

  /** The value {@code update}. */
  public static final PolicyCheckRequestOperation UPDATE = new PolicyCheckRequestOperation("update");

  /** The value {@code delete}. */
  public static final PolicyCheckRequestOperation DELETE = new PolicyCheckRequestOperation("delete");

  /** The value {@code execute}. */
  public static final PolicyCheckRequestOperation EXECUTE = new PolicyCheckRequestOperation("execute");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public PolicyCheckRequestOperation {}

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
