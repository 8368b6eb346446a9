// The results of a stream of items, in their order.
package keystored.client;

import java.util.Iterator;

/**
 * The results of a stream of items, in the order of the items. A few requests are under way at a time, and no more of the items are taken
 * than they hold: memory is bounded, however many items there are. Items are taken in the thread that reads. Read to the end, or close it:
 * that ends what is under way. One thread reads it.
 *
 * @param <T> of the results
 */
public interface BatchStream<T> extends Iterator<BatchResult<T>>, AutoCloseable {
  /** Ends what is under way. */
  @Override
  void close();
}
