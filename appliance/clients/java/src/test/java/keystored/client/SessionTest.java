// Logins and renewals against a server of the test that issues tokens.
package keystored.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SessionTest {
  /** Issues tokens and accepts the last one. */
  private static final class Logins implements FakeServer.Handler {
    final AtomicInteger issued = new AtomicInteger();
    final AtomicInteger refreshed = new AtomicInteger();
    final int ttlSeconds;
    final int refreshSeconds;
    final List<String> bodies = Collections.synchronizedList(new ArrayList<>());
    volatile boolean revoked;

    Logins(int ttlSeconds, int refreshSeconds) {
      this.ttlSeconds = ttlSeconds;
      this.refreshSeconds = refreshSeconds;
    }

    @Override
    public void answer(HttpExchange exchange) throws IOException, InterruptedException {
      String path = exchange.getRequestURI().getPath();
      if (path.equals("/v1/approle-login") || path.equals("/v1/jwt-login")) {
        bodies.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
        Thread.sleep(200);
        revoked = false;
        FakeServer.json(exchange, "{\"token\":\"t-" + issued.incrementAndGet() + "\",\"expires-in\":" + ttlSeconds + "}");
      } else if (revoked || !("Bearer t-" + issued).equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
        FakeServer.refuse(exchange, 401, "invalid-token", null);
      } else if (path.endsWith("/token/refresh")) {
        Thread.sleep(200);
        refreshed.incrementAndGet();
        FakeServer.json(exchange, "{\"expires-in\":" + refreshSeconds + "}");
      } else {
        FakeServer.json(exchange, FakeServer.CIPHERTEXT);
      }
    }

    List<Integer> counts() {
      return List.of(issued.get(), refreshed.get());
    }
  }

  private static void encryptAtOnce(Client client, int callers) throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newFixedThreadPool(callers);
    try {
      List<Future<String>> calls = new ArrayList<>();
      for (int index = 0; index < callers; index++) calls.add(threads.submit(() -> client.key("k").encrypt(new byte[] {1})));
      for (Future<String> call : calls) call.get();
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aHundredCallersShareOneLoginAndOneRenewal() throws IOException, InterruptedException, ExecutionException {
    Logins logins = new Logins(8, 3_600);
    try (FakeServer server = new FakeServer(logins)) {
      Client client = server.client().approle("r", "s").build();
      encryptAtOnce(client, 100);
      assertEquals(List.of(1, 0), logins.counts());
      Thread.sleep(4_100);
      encryptAtOnce(client, 100);
      assertEquals(List.of(1, 1), logins.counts());
      // One login for all whose token was refused.
      logins.revoked = true;
      encryptAtOnce(client, 100);
      assertEquals(List.of(2, 1), logins.counts());
    }
  }

  @Test
  void logsInWhereARenewalGivesLittle() throws IOException, InterruptedException {
    Logins logins = new Logins(2, 0);
    try (FakeServer server = new FakeServer(logins)) {
      Client client = server.client().approle("r", "s").build();
      client.key("k").encrypt(new byte[0]);
      Thread.sleep(1_100);
      client.key("k").encrypt(new byte[0]);
      assertEquals(List.of(2, 1), logins.counts());
    }
  }

  @Test
  void aWorkloadLogsInWithWhatTheFileHasThen(@TempDir Path directory) throws IOException, InterruptedException {
    Path file = Files.writeString(directory.resolve("token"), "first\n");
    Logins logins = new Logins(3, 0);
    try (FakeServer server = new FakeServer(logins)) {
      Client client = server.client().workload(new Workload("acme", "deploy", "cluster", Workload.file(file))).build();
      client.key("k").encrypt(new byte[0]);
      // While the file is bad the earlier token is used.
      Files.writeString(file, " ");
      Thread.sleep(1_600);
      client.key("k").encrypt(new byte[0]);
      Files.writeString(file, "second");
      Thread.sleep(1_600);
      client.key("k").encrypt(new byte[0]);
      assertEquals(2, logins.bodies.size());
      assertTrue(logins.bodies.get(0).contains("\"jwt\":\"first\"") && logins.bodies.get(0).contains("\"issuer\":\"cluster\""));
      assertTrue(logins.bodies.get(1).contains("\"jwt\":\"second\""));
      logins.revoked = true;
      Files.writeString(file, "");
      IllegalStateException none = assertThrows(IllegalStateException.class, () -> client.key("k").encrypt(new byte[0]));
      assertTrue(none.getCause().getMessage().contains("holds no token of the platform"));
    }
    IllegalStateException unset = assertThrows(IllegalStateException.class, Workload.environment("KEYSTORED_UNSET")::get);
    assertTrue(unset.getMessage().contains("KEYSTORED_UNSET"));
    assertThrows(IllegalArgumentException.class, () -> Client.builder().address("https://h").token("t").workload(new Workload("a", "b", () -> "")).build());
  }

  @Test
  void aRefusedTokenIsReplacedOnce() throws IOException {
    AtomicInteger logins = new AtomicInteger();
    AtomicInteger calls = new AtomicInteger();
    FakeServer.Handler handler =
        exchange -> {
          if (exchange.getRequestURI().getPath().equals("/v1/approle-login")) {
            FakeServer.json(exchange, "{\"token\":\"t-" + logins.incrementAndGet() + "\",\"expires-in\":600}");
            return;
          }
          calls.incrementAndGet();
          FakeServer.refuse(exchange, 401, "invalid-token", null);
        };
    try (FakeServer server = new FakeServer(handler)) {
      Client client = server.client().approle("r", "s").build();
      assertEquals(401, assertThrows(ProblemException.class, () -> client.key("k").encrypt(new byte[0])).status());
      assertEquals(List.of(2, 2), List.of(logins.get(), calls.get()));
    }
  }

  @Test
  void aCallerThatIsInterruptedLeavesTheLoginToTheOthers() throws IOException, InterruptedException {
    Logins logins = new Logins(600, 600);
    try (FakeServer server = new FakeServer(logins)) {
      Client client = server.client().approle("r", "s").build();
      List<Throwable> failures = new ArrayList<>();
      Thread first =
          new Thread(
              () -> {
                try {
                  client.key("k").encrypt(new byte[0]);
                } catch (TransportException ended) {
                  failures.add(ended.getCause());
                }
              });
      first.start();
      Thread.sleep(50);
      first.interrupt();
      client.key("k").encrypt(new byte[0]);
      first.join();
      assertInstanceOf(InterruptedException.class, failures.get(0));
      assertEquals(List.of(1, 0), logins.counts());
    }
  }

  @Test
  void aGivenTokenIsRenewedAndUsedToItsEnd() throws IOException, InterruptedException {
    AtomicInteger refreshed = new AtomicInteger();
    FakeServer.Handler handler =
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          if (path.endsWith("/token/info")) {
            FakeServer.json(
                exchange, "{\"expires-in\":2,\"creation-time\":\"2026-01-01T00:00:00.000000Z\",\"expires\":\"2026-01-01T00:00:02Z\"}");
          } else if (path.endsWith("/token/refresh")) {
            refreshed.incrementAndGet();
            FakeServer.refuse(exchange, 403, "policy-denied", null);
          } else {
            FakeServer.json(exchange, FakeServer.CIPHERTEXT);
          }
        };
    try (FakeServer server = new FakeServer(handler)) {
      Client client = server.client().token("t").build();
      for (int time = 0; time < 3; time++) {
        client.key("k").encrypt(new byte[0]);
        Thread.sleep(1_100);
      }
      client.key("k").encrypt(new byte[0]);
      assertTrue(refreshed.get() > 0);
    }
  }
}
