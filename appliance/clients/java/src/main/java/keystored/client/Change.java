// What a merge does to a field that can be removed.
package keystored.client;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Objects;

/**
 * What a merge does to a field that can be removed. An absent one is left as it is.
 *
 * @param value the new value; null removes
 * @param <T> of the value
 */
public record Change<T>(T value) {
  /**
   * Makes a change.
   *
   * @param value the new value; null removes
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public Change {}

  /**
   * Sets the field.
   *
   * @param value not null
   * @param <T> of the value
   * @return the change
   */
  public static <T> Change<T> to(T value) {
    return new Change<>(Objects.requireNonNull(value));
  }

  /**
   * Removes what the field is.
   *
   * @param <T> of the value
   * @return the change
   */
  public static <T> Change<T> removal() {
    return new Change<>(null);
  }

  /**
   * Answers the new value.
   *
   * @return null for a removal
   */
  @Override
  @JsonValue
  public T value() {
    return value;
  }
}
