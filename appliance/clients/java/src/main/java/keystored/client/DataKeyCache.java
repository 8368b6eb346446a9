// Data keys for reuse, with bounds that the caller chose.
package keystored.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Data keys for reuse, so that many small streams need few requests: {@link Key#withDataKeys} takes it. It serves one client, in any number
 * of threads. While a key is kept, a policy that was withdrawn has no effect on what it opens. A key is overwritten when its uses or its
 * time are over, which is looked at whenever the cache is used, and by {@link #clear}; copies that the platform makes of it are not.
 */
public final class DataKeyCache {
  private final int maxUses;
  private final long maxAgeNanos;
  private final int maxKeys;
  private Object owner;
  /** The one unused for longest is first. */
  private final Map<List<Object>, Entry> entries = new LinkedHashMap<>();

  private static final class Entry {
    final DataKey key;
    final long madeAt = System.nanoTime();
    int usesLeft;

    Entry(DataKey key, int usesLeft) {
      this.key = key;
      this.usesLeft = usesLeft;
    }
  }

  /**
   * Makes an empty cache of at most 100 keys.
   *
   * @param maxUses streams that one data key seals, and opens; from 1
   * @param maxAge how long a data key is used after it came from the appliance
   */
  public DataKeyCache(int maxUses, Duration maxAge) {
    this(maxUses, maxAge, 100);
  }

  /**
   * Makes an empty cache.
   *
   * @param maxUses streams that one data key seals, and opens; from 1
   * @param maxAge how long a data key is used after it came from the appliance
   * @param maxKeys data keys kept at a time; the one unused for longest goes first
   */
  public DataKeyCache(int maxUses, Duration maxAge, int maxKeys) {
    if (maxUses < 1 || maxKeys < 1 || maxAge.isNegative() || maxAge.isZero()) {
      throw new IllegalArgumentException("maxUses, maxAge and maxKeys must be above zero");
    }
    this.maxUses = maxUses;
    this.maxAgeNanos = maxAge.toNanos();
    this.maxKeys = maxKeys;
  }

  /**
   * Counts the data keys that are kept.
   *
   * @return how many
   */
  public synchronized int size() {
    sweep();
    return entries.size();
  }

  /** Overwrites and forgets all data keys. */
  public synchronized void clear() {
    for (List<Object> name : new ArrayList<>(entries.keySet())) drop(name);
  }

  /** The key of a name, or a new one; the caller overwrites its copy. It is asked for without holding up other threads. */
  DataKey take(Object client, List<Object> name, Supplier<DataKey> source) {
    DataKey kept = kept(client, name);
    if (kept != null) return kept;
    DataKey made = source.get();
    if (maxUses > 1) keep(name, made);
    return made;
  }

  private synchronized DataKey kept(Object client, List<Object> name) {
    if (owner == null) owner = client;
    if (owner != client) throw new IllegalArgumentException("a cache of data keys serves one client: make another for this one");
    sweep();
    Entry entry = entries.remove(name);
    if (entry == null) return null;
    DataKey copy = copyOf(entry.key);
    entry.usesLeft--;
    if (entry.usesLeft > 0) entries.put(name, entry);
    else Arrays.fill(entry.key.plaintext(), (byte) 0);
    return copy;
  }

  private synchronized void keep(List<Object> name, DataKey key) {
    drop(name);
    Iterator<List<Object>> oldest = List.copyOf(entries.keySet()).iterator();
    while (entries.size() >= maxKeys) drop(oldest.next());
    entries.put(name, new Entry(copyOf(key), maxUses - 1));
  }

  private void sweep() {
    long now = System.nanoTime();
    List<List<Object>> old = new ArrayList<>();
    entries.forEach(
        (name, entry) -> {
          if (now - entry.madeAt >= maxAgeNanos) old.add(name);
        });
    old.forEach(this::drop);
  }

  private void drop(List<Object> name) {
    Entry entry = entries.remove(name);
    if (entry != null) Arrays.fill(entry.key.plaintext(), (byte) 0);
  }

  private static DataKey copyOf(DataKey key) {
    return new DataKey(key.plaintext().clone(), key.ciphertext(), key.keyVersion());
  }
}
