// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * `in`: it may answer, and changes wait for it. `expelled`: it did not apply what it should. `out`: it answers
 * no more. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record ClusterMemberState(String value) {
  /** The value {@code in}. */
  public static final ClusterMemberState IN = new ClusterMemberState("in");

  /** The value {@code expelled}. */
  public static final ClusterMemberState EXPELLED = new ClusterMemberState("expelled");

  /** The value {@code out}. */
  public static final ClusterMemberState OUT = new ClusterMemberState("out");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ClusterMemberState {}

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
