// A token and what is known of its life, on the monotonic clock of this machine.
package keystored.client.internal;

import java.time.Duration;

/**
 * A token and what is known of its life.
 *
 * @param life how long it lived when it was issued or renewed last; null while it is not known, or when it has no end
 * @param renewAtNanos when half of its life is over
 */
record Session(String token, boolean isKnown, Duration life, long renewAtNanos, long endsAtNanos) {
  static Session given(String token) {
    return new Session(token, false, null, 0, 0);
  }

  /** Begins a life of some seconds, counted from when the request for it was sent; null: it has no end. */
  Session begin(long sentNanos, Long seconds) {
    if (seconds == null) return new Session(token, true, null, 0, 0);
    Duration whole = Duration.ofSeconds(seconds);
    return new Session(token, true, whole, sentNanos + whole.toNanos() / 2, sentNanos + whole.toNanos());
  }

  /** Puts the renewal to where half of a life is over that began earlier. */
  Session begunEarlier(Duration whole) {
    return new Session(token, true, life, endsAtNanos - whole.toNanos() / 2, endsAtNanos);
  }

  /** Puts the next renewal to half of what is left, after one that failed. */
  Session again(long nowNanos) {
    long wait = Math.max((endsAtNanos - nowNanos) / 2, Duration.ofSeconds(1).toNanos());
    return new Session(token, true, life, nowNanos + wait, endsAtNanos);
  }

  /** Is used as it is: the appliance says what it thinks of the token. */
  Session forGood() {
    return new Session(token, true, null, 0, 0);
  }

  boolean isDue(long nowNanos) {
    return !isKnown || life != null && nowNanos - renewAtNanos >= 0;
  }

  boolean hasEnded(long nowNanos) {
    return life != null && nowNanos - endsAtNanos >= 0;
  }
}
