// What became of one item of a batch.
package keystored.client;

/**
 * What became of one item. One that failed does not stop the others.
 *
 * @param value the result; null when the item failed
 * @param problem why the item failed; null when it did not
 * @param reference the one of the item; may be null
 * @param <T> of the result
 */
public record BatchResult<T>(T value, ProblemException problem, String reference) {
  /**
   * Answers the result, or throws the problem.
   *
   * @return the result
   */
  public T get() {
    if (problem != null) throw problem;
    return value;
  }

  /** Hides the value: it may be a plaintext. */
  @Override
  public String toString() {
    return "BatchResult[" + (problem == null ? "…" : problem.getMessage()) + "]";
  }
}
