// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * `holds`: its store has the version, and its token has opened it just now. `lacks`: `reason` says why.
 * `silent`: it did not say in time. `away`: it is out of the cluster, and was not asked. Later versions may
 * answer others.
 *
 * @param value as on the wire
 */
public record DistributionState(String value) {
  /** The value {@code holds}. */
  public static final DistributionState HOLDS = new DistributionState("holds");

  /** The value {@code lacks}. */
  public static final DistributionState LACKS = new DistributionState("lacks");

  /** The value {@code silent}. */
  public static final DistributionState SILENT = new DistributionState("silent");

  /** The value {@code away}. */
  public static final DistributionState AWAY = new DistributionState("away");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public DistributionState {}

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
