// One call: the operation, its parts, and the time it has.
package keystored.client.internal;

import java.time.Duration;
import java.util.Map;

/** One call of an operation, ready to be sent any number of times. */
record Call(
    Operation operation,
    String target,
    Map<String, String> headers,
    byte[] body,
    String mediaType,
    String token,
    boolean streamed,
    long deadlineNanos) {
  static Call of(Operation operation, Parts parts, Duration timeLimit) {
    byte[] body = parts.document == null ? parts.octets : Json.write(parts.document);
    String mediaType = parts.document == null ? parts.mediaType : Link.JSON;
    long deadline = System.nanoTime() + timeLimit.toNanos();
    return new Call(operation, parts.target(operation.path()), parts.headers, body, mediaType, null, false, deadline);
  }

  Call withToken(String known) {
    return new Call(operation, target, headers, body, mediaType, known, streamed, deadlineNanos);
  }

  Call asStream() {
    return new Call(operation, target, headers, body, mediaType, token, true, deadlineNanos);
  }

  Duration left() {
    return Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime()));
  }

  boolean isIdempotent() {
    return operation.is(Operation.Trait.IDEMPOTENT);
  }
}
