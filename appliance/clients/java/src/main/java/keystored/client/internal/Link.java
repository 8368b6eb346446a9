// Sends requests to the addresses of an appliance, with repetitions. It knows nothing of logins.
package keystored.client.internal;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.channels.UnresolvedAddressException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import keystored.client.AskedForApprovalException;
import keystored.client.ProblemException;
import keystored.client.TransportException;
import keystored.client.api.Problem;

/** Sends requests to the addresses of an appliance. */
final class Link {
  static final String JSON = "application/json";
  private static final String PROBLEM = "application/problem+json";
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(5);
  private static final long FIRST_BACKOFF_MS = 200;
  private static final long MOST_BACKOFF_MS = 5_000;

  private final HttpClient http;
  private final Settings settings;
  private final String userAgent;
  /** Of the address that answered last. */
  private final AtomicInteger preferred = new AtomicInteger();

  /** An answer below status 300, or a batch of which every item failed. */
  record Answer(int status, HttpHeaders headers, InputStream body) {
    byte[] octets() {
      try (body) {
        return body.readAllBytes();
      } catch (IOException brokenOff) {
        throw new TransportException("", "the answer broke off", true, brokenOff);
      }
    }
  }

  Link(Settings settings) {
    this.settings = settings;
    this.userAgent = (settings.product() + " keystored-client-java/" + Version.VERSION).strip();
    // A redirect would carry the token elsewhere; the appliance sends none.
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER).connectTimeout(CONNECT_LIMIT);
    SSLContext trust = settings.trust();
    http = (trust == null ? builder : builder.sslContext(trust)).build();
  }

  Duration timeLimit() {
    return settings.timeLimit();
  }

  String address() {
    return settings.addresses().get(preferred.get());
  }

  /** Throws ProblemException from status 300 up, TransportException without an answer. */
  Answer send(Call call) {
    for (int attempt = 1; ; attempt++) {
      try {
        return tryEach(call);
      } catch (ProblemException | TransportException failure) {
        Duration wait = attempt < settings.attempts() ? pause(failure, call, attempt) : null;
        if (wait == null || wait.compareTo(call.left()) >= 0) throw failure;
        sleep(wait);
      }
    }
  }

  /** Sends the request to the addresses in turn, from the one that answered last, until one can serve it. */
  private Answer tryEach(Call call) {
    List<String> addresses = settings.addresses();
    int first = preferred.get();
    RuntimeException failure = null;
    for (int step = 0; step < addresses.size(); step++) {
      int index = (first + step) % addresses.size();
      try {
        Answer answer = exchange(addresses.get(index), call);
        preferred.set(index);
        return answer;
      } catch (ProblemException | TransportException one) {
        if (!isAway(one, call)) {
          if (one instanceof ProblemException) preferred.set(index);
          throw one;
        }
        // Where all are away, a problem says more than a refused connection.
        if (failure == null || one instanceof ProblemException) failure = one;
      }
    }
    throw failure;
  }

  /** Whether another address may serve what this one did not. */
  private static boolean isAway(RuntimeException failure, Call call) {
    if (failure instanceof TransportException lost) return mayRepeat(lost, call);
    // Every address would count the same caller.
    return failure instanceof ProblemException problem && problem.status() != 429 && mayRepeatAfter(problem, call);
  }

  /** Whether the appliance did nothing, or doing it twice does no harm. What a proxy answers tells nothing of that. */
  private static boolean mayRepeatAfter(ProblemException problem, Call call) {
    boolean isOurs = !problem.code().equals(ProblemException.UNEXPECTED_ANSWER);
    return switch (problem.status()) {
      case 429 -> isOurs || call.isIdempotent();
      case 503 -> isOurs && !problem.retryAfter().isZero() || call.isIdempotent();
      case 502, 504 -> call.isIdempotent();
      default -> false;
    };
  }

  /** False for what would fail again, and for what may have had its effect and must not have it twice. */
  private static boolean mayRepeat(TransportException lost, Call call) {
    if (lost.getCause() instanceof InterruptedException || lost.getCause() instanceof TimeoutException || isDistrust(lost)) return false;
    return !lost.wasSent() || call.isIdempotent();
  }

  /** Whether the other side is not who the caller trusts. */
  private static boolean isDistrust(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) if (cause instanceof CertificateException) return true;
    return false;
  }

  /** How long to wait before the next attempt; null: there is none. */
  private Duration pause(RuntimeException failure, Call call, int attempt) {
    long most = Math.min(FIRST_BACKOFF_MS << Math.min(attempt - 1, 8), MOST_BACKOFF_MS);
    // Half of it is left to chance, so that many callers do not come back at once.
    Duration backoff = Duration.ofMillis(most / 2 + ThreadLocalRandom.current().nextLong(most / 2));
    if (failure instanceof TransportException lost) return mayRepeat(lost, call) ? backoff : null;
    ProblemException problem = (ProblemException) failure;
    Duration asked = problem.retryAfter();
    if (asked.compareTo(settings.mostWait()) > 0 || !mayRepeatAfter(problem, call)) return null;
    return asked.isZero() ? backoff : asked.plus(backoff.dividedBy(4));
  }

  private Answer exchange(String address, Call call) {
    HttpResponse<InputStream> response = await(address, call, http.sendAsync(request(address, call), handler(call)));
    int status = response.statusCode();
    Answer answer = new Answer(status, response.headers(), response.body());
    boolean isPartial = status == 400 && call.operation().is(Operation.Trait.PARTIAL) && Text.mediaType(answer.headers).equals(JSON);
    if (status == 202) throw asked(answer);
    if (status >= 300 && !isPartial) throw problem(answer);
    return answer;
  }

  /** Answers are in memory whole, so that one that breaks off counts as none; a stream and a refused one are read later. */
  private static HttpResponse.BodyHandler<InputStream> handler(Call call) {
    if (call.streamed()) return BodyHandlers.ofInputStream();
    return info -> BodySubscribers.mapping(BodySubscribers.ofByteArray(), ByteArrayInputStream::new);
  }

  private HttpRequest request(String address, Call call) {
    HttpRequest.BodyPublisher body =
        call.body() == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofByteArray(call.body());
    String accept = call.operation().accept();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address + call.target()))
            .method(call.operation().method(), body)
            .header("User-Agent", userAgent)
            .header("Accept", accept.isEmpty() ? PROBLEM : accept + ", " + PROBLEM);
    if (call.mediaType() != null) request.header("Content-Type", call.mediaType());
    if (call.token() != null) request.header("Authorization", "Bearer " + call.token());
    call.headers().forEach(request::header);
    return request.build();
  }

  /** The thread's interruption and the end of the time end the exchange, too. */
  private HttpResponse<InputStream> await(String address, Call call, CompletableFuture<HttpResponse<InputStream>> exchange) {
    try {
      return exchange.get(call.left().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupted) {
      exchange.cancel(true);
      Thread.currentThread().interrupt();
      throw new TransportException(address, "the thread was interrupted", true, interrupted);
    } catch (TimeoutException over) {
      exchange.cancel(true);
      throw new TransportException(address, "no answer within " + settings.timeLimit().toMillis() + " ms", true, over);
    } catch (ExecutionException failed) {
      Throwable cause = failed.getCause();
      throw new TransportException(address, cause.toString(), wasSent(cause), cause);
    }
  }

  /** False when it is known that nothing of the request was sent. An alert of the other side may come after the request: it is no such thing. */
  private static boolean wasSent(Throwable cause) {
    return !(cause instanceof ConnectException
        || cause instanceof HttpConnectTimeoutException
        || cause instanceof UnresolvedAddressException
        || cause instanceof SSLHandshakeException && isDistrust(cause));
  }

  private void sleep(Duration wait) {
    try {
      Thread.sleep(wait.toMillis() + 1);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new TransportException(address(), "the thread was interrupted", false, interrupted);
    }
  }

  private static ProblemException asked(Answer answer) {
    try {
      JsonNode request = Json.read(answer.octets(), Json.MAPPER.constructType(JsonNode.class));
      if (request != null && request.hasNonNull("id"))
        return new AskedForApprovalException(
            request.path("id").asText(), request.path("needed").asInt(), request.path("expires").asText(), request.path("digest-words").asText());
    } catch (IOException notJson) {
      // Said below.
    }
    return unexpected(answer, "The answer is not a request for approval.", Duration.ZERO);
  }

  private static ProblemException problem(Answer answer) {
    String mediaType = Text.mediaType(answer.headers);
    Duration wait = Text.retryAfter(answer.headers);
    try {
      if (mediaType.equals(PROBLEM)) {
        Problem problem = Json.read(answer.octets(), Json.MAPPER.constructType(Problem.class));
        if (problem != null && problem.code() != null) return new ProblemException(problem, answer.status, wait);
      }
    } catch (IOException | TransportException notAProblem) {
      // Described below like every answer that is not the appliance's.
    }
    String kind = mediaType.isEmpty() ? "of no media type" : mediaType;
    return unexpected(answer, "The answer is " + kind + ", not a problem document: it may come from a proxy.", wait);
  }

  /** An answer that the description does not have. */
  static ProblemException unexpected(Answer answer, String detail, Duration wait) {
    String requestId = answer.headers().firstValue("request-id").orElse(null);
    Problem problem =
        new Problem("about:blank", "Unexpected answer", (long) answer.status, detail, ProblemException.UNEXPECTED_ANSWER, requestId, List.of());
    return new ProblemException(problem, answer.status, wait);
  }
}
