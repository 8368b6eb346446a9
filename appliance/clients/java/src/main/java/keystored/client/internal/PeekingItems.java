// Items one by one, with a look at the next.
package keystored.client.internal;

import java.util.Iterator;
import java.util.Objects;
import java.util.function.Function;

/** Items one by one, with a look at the next, which is encoded once. */
final class PeekingItems<I> {
  private final Iterator<I> items;
  private I next;
  private byte[] encoded;

  PeekingItems(Iterator<I> items) {
    this.items = items;
  }

  boolean hasNext() {
    return next != null || items.hasNext();
  }

  /** What the next item is encoded as. */
  byte[] peek(Function<? super I, byte[]> encode) {
    if (next == null) {
      next = Objects.requireNonNull(items.next(), "an item of a batch is null");
      encoded = encode.apply(next);
    }
    return encoded;
  }

  /** The item that was looked at. */
  I next() {
    I taken = next;
    next = null;
    encoded = null;
    return taken;
  }
}
