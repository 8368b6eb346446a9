// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * `alone`: the configuration has no section `cluster`, and there are no members. Later versions may answer
 * others.
 *
 * @param value as on the wire
 */
public record ClusterShape(String value) {
  /** The value {@code alone}. */
  public static final ClusterShape ALONE = new ClusterShape("alone");

  /** The value {@code cluster}. */
  public static final ClusterShape CLUSTER = new ClusterShape("cluster");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ClusterShape {}

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
