// Keeps the token of a client: logs in, learns how long the token lives, renews it, and logs in again.
package keystored.client.internal;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import keystored.client.ProblemException;
import keystored.client.TransportException;
import keystored.client.Workload;

/** Keeps the token of a client. */
final class Authority {
  private static final Operation LOG_IN = new Operation("POST", "/v1/approle-login", Link.JSON, Operation.Trait.PUBLIC);
  private static final Operation LOG_IN_WORKLOAD = new Operation("POST", "/v1/jwt-login", Link.JSON, Operation.Trait.PUBLIC);
  private static final Operation INFO =
      new Operation("POST", "/v1/state/keystore/token/info", Link.JSON, Operation.Trait.IDEMPOTENT);
  private static final Operation REFRESH =
      new Operation("POST", "/v1/state/keystore/token/refresh", Link.JSON, Operation.Trait.IDEMPOTENT);

  private final Link link;
  private final Settings settings;
  private Session current;
  /** The one login or renewal that all callers wait for. */
  private CompletableFuture<Session> flight;

  Authority(Link link, Settings settings) {
    this.link = link;
    this.settings = settings;
    this.current = settings.token() == null ? null : Session.given(settings.token());
  }

  private boolean canLogIn() {
    return settings.roleId() != null || settings.workload() != null;
  }

  /** One that has not ended, as far as is known here; null without credentials. */
  String token(Duration most) {
    CompletableFuture<Session> joined;
    synchronized (this) {
      if (current == null && !canLogIn()) return null;
      if (current != null && !current.isDue(System.nanoTime())) return current.token();
      if (flight == null) start(current);
      joined = flight;
    }
    try {
      return joined.get(most.toNanos(), TimeUnit.NANOSECONDS).token();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new TransportException(link.address(), "the thread was interrupted", false, interrupted);
    } catch (TimeoutException over) {
      throw new TransportException(link.address(), "no token within the time limit", false, over);
    } catch (ExecutionException failed) {
      throw again(failed.getCause());
    }
  }

  /** The same failure for each of those who waited, with their own stack. */
  private RuntimeException again(Throwable cause) {
    if (cause instanceof TransportException lost) {
      return new TransportException(lost.address(), "the login got no answer", lost.wasSent(), lost.getCause());
    }
    if (cause instanceof ProblemException problem) return problem;
    return new IllegalStateException("the login failed", cause);
  }

  /** Drops a token that was refused, unless a newer one is there already. Answers whether another can be had. */
  synchronized boolean forget(String token) {
    if (current != null && current.token().equals(token) && canLogIn()) current = null;
    return canLogIn();
  }

  /** Forgets the token of a login. */
  synchronized void forget() {
    if (canLogIn()) current = null;
  }

  /** A thread of its own: the first caller may be interrupted, and the others go on waiting. */
  private void start(Session known) {
    CompletableFuture<Session> mine = new CompletableFuture<>();
    flight = mine;
    Thread thread =
        new Thread(
            () -> {
              try {
                Session next = next(known);
                land(next);
                mine.complete(next);
              } catch (RuntimeException | Error failure) {
                land(null);
                mine.completeExceptionally(failure);
              }
            },
            "keystored-token");
    thread.setDaemon(true);
    thread.start();
  }

  private synchronized void land(Session next) {
    if (next != null) current = next;
    flight = null;
  }

  private Session next(Session known) {
    if (known == null) return logIn();
    if (!known.isKnown()) return learn(known);
    return canLogIn() ? renewOrLogIn(known) : renew(known);
  }

  /** Asks how long a given token lives. One that may not ask is used as it is. */
  private Session learn(Session given) {
    long sent = System.nanoTime();
    try {
      TokenState state = ask(INFO, given.token(), Map.of());
      Session learned = given.begin(sent, state.expiresIn());
      if (state.expires() == null || state.creationTime() == null) return learned;
      Duration whole = Duration.between(state.creationTime(), state.expires());
      return learned.life() != null && whole.compareTo(learned.life()) > 0 ? learned.begunEarlier(whole) : learned;
    } catch (ProblemException problem) {
      if (problem.code().equals("policy-denied")) return given.forGood();
      throw problem;
    }
  }

  private Session renewOrLogIn(Session known) {
    try {
      Session renewed = refresh(known);
      // Near the longest life of a token a renewal gives little: a login gives a whole one.
      if (renewed.life() == null || renewed.life().compareTo(known.life().dividedBy(2)) >= 0) return renewed;
    } catch (ProblemException | TransportException notRenewed) {
      // The login below says why, if it fails too.
    }
    try {
      return logIn();
    } catch (RuntimeException failure) {
      // Also what the program's source of platform tokens throws.
      if (known.hasEnded(System.nanoTime())) throw failure;
      return known.again(System.nanoTime());
    }
  }

  /** Gives a token that cannot be had anew another life; when that fails, it is used until its end. */
  private Session renew(Session known) {
    try {
      return refresh(known);
    } catch (ProblemException | TransportException notRenewed) {
      return known.hasEnded(System.nanoTime()) ? known.forGood() : known.again(System.nanoTime());
    }
  }

  private Session refresh(Session known) {
    long sent = System.nanoTime();
    return known.begin(sent, ask(REFRESH, known.token(), Map.of()).expiresIn());
  }

  private Session logIn() {
    Workload workload = settings.workload();
    Map<String, String> document =
        workload == null ? Map.of("role-id", settings.roleId(), "secret-id", settings.secretId()) : workload.login();
    long sent = System.nanoTime();
    TokenState state = ask(workload == null ? LOG_IN : LOG_IN_WORKLOAD, null, document);
    return Session.given(state.token()).begin(sent, state.expiresIn());
  }

  /** What the answers about tokens have in common. */
  private record TokenState(
      @JsonProperty("token") String token,
      @JsonProperty("expires-in") Long expiresIn,
      @JsonProperty("creation-time") Instant creationTime,
      @JsonProperty("expires") Instant expires) {}

  private TokenState ask(Operation operation, String token, Map<String, String> document) {
    Call call = Call.of(operation, new Parts().body(document), link.timeLimit()).withToken(token);
    Link.Answer answer = link.send(call);
    try {
      return Json.read(answer.octets(), Json.MAPPER.constructType(TokenState.class));
    } catch (IOException notJson) {
      throw Link.unexpected(answer, "The answer to a login is not what the description says.", Duration.ZERO);
    }
  }
}
