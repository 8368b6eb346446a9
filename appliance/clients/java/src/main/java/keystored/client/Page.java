// A part of a list, and the walk over all its parts.
package keystored.client;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * A part of a list.
 *
 * @param items the entries of this page
 * @param total how many entries the caller may see on all pages; -1 when the appliance did not say
 * @param after where the next page begins: the {@code after} of its call; null on the last page
 * @param <T> of the entries
 */
public record Page<T>(List<T> items, long total, String after) {
  /**
   * Says whether there are more entries.
   *
   * @return false on the last page
   */
  public boolean hasNext() {
    return after != null;
  }

  /**
   * Walks over the entries of all pages and reads them one by one.
   *
   * @param fetch gets the page that begins after a name; null for the first
   * @param <T> of the entries
   * @return can be walked any number of times, each time anew
   */
  public static <T> Iterable<T> walk(Function<String, Page<T>> fetch) {
    return () -> new Walk<>(fetch);
  }

  private static final class Walk<T> implements Iterator<T> {
    private final Function<String, Page<T>> fetch;
    private Page<T> page;
    private Iterator<T> items = List.<T>of().iterator();

    Walk(Function<String, Page<T>> fetch) {
      this.fetch = fetch;
    }

    @Override
    public boolean hasNext() {
      while (!items.hasNext() && (page == null || page.hasNext())) {
        Page<T> next = fetch.apply(page == null ? null : page.after());
        // A page that leads to itself would never end.
        boolean isStuck = page != null && next.hasNext() && next.after().equals(page.after());
        page = isStuck ? new Page<>(next.items(), next.total(), null) : next;
        items = page.items().iterator();
      }
      return items.hasNext();
    }

    @Override
    public T next() {
      if (!hasNext()) throw new NoSuchElementException();
      return items.next();
    }
  }
}
