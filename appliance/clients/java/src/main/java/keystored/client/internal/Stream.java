// Sends a stream of items in batches, a few at a time, and joins the results in order.
package keystored.client.internal;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import keystored.client.BatchResult;
import keystored.client.BatchStream;
import keystored.client.TransportException;

/**
 * Sends a stream of items in batches.
 *
 * @param <I> of the items
 * @param <R> of the results
 */
public final class Stream<I, R> implements BatchStream<R> {
  private final Actions actions;
  private final Action<I, R> action;
  private final PeekingItems<? extends I> items;
  private final ExecutorService threads;
  private final Queue<Future<List<BatchResult<R>>>> underWay = new ArrayDeque<>();
  private Iterator<BatchResult<R>> ready = List.<BatchResult<R>>of().iterator();

  /**
   * Starts nothing before the first result is asked for.
   *
   * @param actions of the key
   * @param action what to do
   * @param items with what
   */
  public Stream(Actions actions, Action<I, R> action, Iterator<? extends I> items) {
    this.actions = actions;
    this.action = action;
    this.items = new PeekingItems<>(items);
    this.threads =
        Executors.newFixedThreadPool(
            actions.options().batchesAtOnce(),
            work -> {
              Thread thread = new Thread(work, "keystored-batch");
              thread.setDaemon(true);
              return thread;
            });
  }

  @Override
  public boolean hasNext() {
    while (!ready.hasNext() && fill()) ready = await(underWay.remove()).iterator();
    return ready.hasNext();
  }

  /** Starts as many requests as may be under way; answers whether there is one. */
  private boolean fill() {
    if (threads.isShutdown()) return false;
    try {
      while (underWay.size() < actions.options().batchesAtOnce() && items.hasNext()) {
        Actions.Batch batch = actions.take(action, items);
        underWay.add(threads.submit(() -> actions.send(action, batch)));
      }
    } catch (RuntimeException | Error faultOfAnItem) {
      close();
      throw faultOfAnItem;
    }
    if (underWay.isEmpty()) close();
    return !underWay.isEmpty();
  }

  private List<BatchResult<R>> await(Future<List<BatchResult<R>>> request) {
    try {
      return request.get();
    } catch (InterruptedException interrupted) {
      close();
      Thread.currentThread().interrupt();
      throw new TransportException(actions.sender().address(), "the thread was interrupted", true, interrupted);
    } catch (ExecutionException failed) {
      close();
      if (failed.getCause() instanceof RuntimeException cause) throw cause;
      throw new IllegalStateException("a batch could not be sent", failed.getCause());
    }
  }

  @Override
  public BatchResult<R> next() {
    if (!hasNext()) throw new NoSuchElementException();
    return ready.next();
  }

  @Override
  public void close() {
    threads.shutdownNow();
    underWay.clear();
    ready = List.<BatchResult<R>>of().iterator();
  }
}
