// Repetitions, fail-over, time limits and answers that are not the appliance's, against a server of the test.
package keystored.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import keystored.client.api.TransitKeyMerge;
import keystored.client.api.TransitKeyState;
import keystored.client.api.TransitKeysListOptions;
import org.junit.jupiter.api.Test;

class TransportTest {
  @Test
  void waitsAsLongAsItIsToldAndSendsAgain() throws IOException {
    for (int status : new int[] {429, 503}) {
      AtomicInteger calls = new AtomicInteger();
      FakeServer.Handler handler =
          exchange -> {
            if (calls.incrementAndGet() == 1) FakeServer.refuse(exchange, status, "busy", "1");
            else FakeServer.answer(exchange, 204, null, "");
          };
      try (FakeServer server = new FakeServer(handler)) {
        long begun = System.nanoTime();
        // A rotation is not idempotent: the appliance said that it did nothing.
        server.client().build().transitKeys().rotate("k");
        assertEquals(2, calls.get());
        assertTrue(System.nanoTime() - begun >= 1_000_000_000);
      }
    }
  }

  @Test
  void givesUpWhereThePauseIsTooLong() throws IOException {
    AtomicInteger calls = new AtomicInteger();
    try (FakeServer server = new FakeServer(exchange -> refuseCounted(exchange, calls, "3600"))) {
      ProblemException problem = assertThrows(ProblemException.class, () -> server.client().build().key("k").encrypt(new byte[0]));
      assertEquals(Duration.ofHours(1), problem.retryAfter());
      assertEquals(1, calls.get());
    }
    // Nor is a pause begun that the time limit does not outlast.
    try (FakeServer server = new FakeServer(exchange -> refuseCounted(exchange, calls, "5"))) {
      Client client = server.client().timeLimit(Duration.ofSeconds(1)).build();
      assertThrows(ProblemException.class, () -> client.key("k").encrypt(new byte[0]));
    }
  }

  private static void refuseCounted(com.sun.net.httpserver.HttpExchange exchange, AtomicInteger calls, String retryAfter) throws IOException {
    calls.incrementAndGet();
    FakeServer.refuse(exchange, 429, "rate-limited", retryAfter);
  }

  @Test
  void boundsTheAttempts() throws IOException {
    AtomicInteger calls = new AtomicInteger();
    FakeServer.Handler handler =
        exchange -> {
          calls.incrementAndGet();
          FakeServer.answer(exchange, 502, "text/html", "<h1>Bad gateway</h1>");
        };
    try (FakeServer server = new FakeServer(handler)) {
      ProblemException problem = assertThrows(ProblemException.class, () -> server.client().attempts(2).build().key("k").encrypt(new byte[0]));
      assertEquals("unexpected-answer 502 2", problem.code() + " " + problem.status() + " " + calls);
    }
  }

  @Test
  void sendsOnlyOnceWhatMayHaveHadItsEffect() throws IOException {
    AtomicInteger calls = new AtomicInteger();
    FakeServer.Handler handler =
        exchange -> {
          if (calls.incrementAndGet() > 1) {
            FakeServer.json(exchange, FakeServer.CIPHERTEXT);
            return;
          }
          // The answer breaks off.
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, 500);
          exchange.getResponseBody().write('{');
        };
    try (FakeServer server = new FakeServer(handler)) {
      TransportException lost = assertThrows(TransportException.class, () -> server.client().build().transitKeys().rotate("k"));
      assertTrue(lost.wasSent());
      assertEquals(1, calls.get());
      calls.set(0);
      assertEquals("store:v1:AAAA", server.client().build().key("k").encrypt(new byte[0]));
      assertEquals(2, calls.get());
    }
  }

  @Test
  void goesOnToTheNextAddress() throws IOException {
    AtomicInteger sealed = new AtomicInteger();
    AtomicInteger served = new AtomicInteger();
    FakeServer.Handler sealedHandler =
        exchange -> {
          sealed.incrementAndGet();
          FakeServer.refuse(exchange, 503, "sealed", "30");
        };
    FakeServer.Handler servingHandler =
        exchange -> {
          served.incrementAndGet();
          FakeServer.answer(exchange, 204, null, "");
        };
    try (FakeServer first = new FakeServer(sealedHandler);
        FakeServer second = new FakeServer(servingHandler);
        FakeServer refusing = new FakeServer(exchange -> FakeServer.refuse(exchange, 403, "policy-denied", null))) {
      Client client = Client.builder().address(FakeServer.dead(), first.url(), second.url() + "/").build();
      for (int time = 0; time < 3; time++) client.transitKeys().rotate("k");
      // It stays with the address that answers.
      assertEquals(List.of(1, 3), List.of(sealed.get(), served.get()));
      // Where all are away, the problem says why.
      Client away = Client.builder().address(first.url(), FakeServer.dead()).mostWait(Duration.ofSeconds(1)).build();
      assertEquals("sealed", assertThrows(ProblemException.class, () -> away.transitKeys().rotate("k")).code());
      // Another refusal is the answer, not a reason to ask elsewhere.
      Client denied = Client.builder().address(refusing.url(), second.url()).build();
      assertEquals("policy-denied", assertThrows(ProblemException.class, () -> denied.transitKeys().rotate("k")).code());
      assertEquals(3, served.get());
    }
  }

  @Test
  void tellsAnswersThatAreNotTheAppliances() throws IOException {
    Map<String, FakeServer.Handler> handlers =
        Map.of(
            "a page with status 200", exchange -> FakeServer.answer(exchange, 200, "text/html", "<h1>Log in</h1>"),
            "a page with status 403", exchange -> FakeServer.answer(exchange, 403, "text/html", "<h1>Blocked</h1>"),
            "a problem that is cut off", exchange -> FakeServer.answer(exchange, 400, "application/problem+json", "{\"code\":\"inv"),
            "JSON that is cut off", exchange -> FakeServer.json(exchange, "{\"ciphertext\":\"st"),
            "JSON of another type", exchange -> FakeServer.json(exchange, "[1]"),
            "an answer without a type", exchange -> FakeServer.answer(exchange, 200, null, "x"),
            "a redirect",
                exchange -> {
                  exchange.getResponseHeaders().set("Location", "/elsewhere");
                  FakeServer.answer(exchange, 307, null, "");
                });
    for (Map.Entry<String, FakeServer.Handler> entry : handlers.entrySet()) {
      try (FakeServer server = new FakeServer(entry.getValue())) {
        ProblemException problem =
            assertThrows(ProblemException.class, () -> server.client().build().key("k").encrypt(new byte[0]), entry.getKey());
        assertEquals(ProblemException.UNEXPECTED_ANSWER, problem.code(), entry.getKey());
      }
    }
  }

  @Test
  void readsProblemsWhole() throws IOException {
    try (FakeServer server = new FakeServer(exchange -> FakeServer.refuse(exchange, 400, "invalid-value", null))) {
      ProblemException problem = assertThrows(ProblemException.class, () -> server.client().build().key("k").encrypt(new byte[0]));
      assertEquals("invalid-value (400): D. [request r-1]", problem.getMessage());
      assertEquals("i", problem.errors().get(0).errorInfo());
    }
  }

  @Test
  void endsWithTheThreadAndWithTheTimeLimit() throws IOException, InterruptedException {
    try (FakeServer server = new FakeServer(exchange -> Thread.sleep(5_000))) {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      Thread caller =
          new Thread(
              () -> {
                try {
                  server.client().build().key("k").encrypt(new byte[0]);
                } catch (TransportException ended) {
                  failure.set(ended.getCause());
                  if (!Thread.currentThread().isInterrupted()) failure.set(ended);
                }
              });
      caller.start();
      Thread.sleep(200);
      caller.interrupt();
      caller.join(3_000);
      assertInstanceOf(InterruptedException.class, failure.get());
      Client limited = server.client().timeLimit(Duration.ofMillis(100)).build();
      TransportException over = assertThrows(TransportException.class, () -> limited.key("k").encrypt(new byte[0]));
      assertInstanceOf(TimeoutException.class, over.getCause());
    }
  }

  @Test
  void readsAStreamLongerThanTheTimeLimit() throws IOException {
    FakeServer.Handler handler =
        exchange -> {
          exchange.getResponseHeaders().set("Content-Type", "application/x-ndjson");
          exchange.sendResponseHeaders(200, 0);
          for (int index = 0; index < 3; index++) {
            exchange.getResponseBody().write(("{\"n\":" + index + "}\n").getBytes(UTF_8));
            exchange.getResponseBody().flush();
            Thread.sleep(300);
          }
        };
    try (FakeServer server = new FakeServer(handler);
        JsonLines lines = server.client().timeLimit(Duration.ofMillis(600)).build().topics().show("system:logs")) {
      int seen = 0;
      while (lines.hasNext()) assertEquals(seen++, lines.next().get("n").asInt());
      assertEquals(3, seen);
    }
  }

  @Test
  void followsTheLinksOfATopicInTheOrderOfTime() throws IOException {
    for (String direction : List.of("since", "before")) {
      List<String> asked = new ArrayList<>();
      FakeServer.Handler handler =
          exchange -> {
            asked.add(exchange.getRequestURI().toString());
            int part = asked.size();
            exchange.getResponseHeaders().set("Content-Type", "application/x-ndjson");
            String next = "</v1/state/topics/system:logs?who=ada&" + direction + "=t" + part + ">; rel=\"next\"";
            if (part < 3) exchange.getResponseHeaders().set("Link", next);
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(("{\"part\":" + part + "}\n").repeat(2).getBytes(UTF_8));
          };
      try (FakeServer server = new FakeServer(handler);
          JsonLines lines = server.client().build().topics().show("system:logs")) {
        StringBuilder found = new StringBuilder();
        while (lines.hasNext()) found.append(lines.next().get("part").asInt());
        assertEquals(direction.equals("since") ? "112233" : "332211", found.toString());
        assertEquals("/v1/state/topics/system:logs?who=ada&" + direction + "=t1", asked.get(1));
        assertEquals(3, asked.size());
      }
    }
  }

  @Test
  void sendsWhatWasNamedAndNothingElse() throws IOException {
    List<String> seen = new ArrayList<>();
    FakeServer.Handler handler =
        exchange -> {
          seen.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
          seen.add(exchange.getRequestURI().getRawPath());
          seen.add(exchange.getRequestHeaders().getFirst("User-Agent"));
          FakeServer.answer(exchange, 204, null, "");
        };
    try (FakeServer server = new FakeServer(handler)) {
      Client client = server.client().product("billing/2.1").build();
      TransitKeyMerge merge = TransitKeyMerge.builder().deletionAllowed(false).removeOpenpgpKeyUsage().build();
      client.transitKeys().merge("a/b c", merge);
      assertEquals("{\"deletion-allowed\":false,\"openpgp-key-usage\":null}", seen.get(0));
      assertEquals("/v1/config/keystore/transit-keys/a%2Fb%20c", seen.get(1));
      assertTrue(seen.get(2).startsWith("billing/2.1 keystored-client-java/"), seen.get(2));
      for (String name : List.of("", ".", "..")) {
        assertThrows(IllegalArgumentException.class, () -> client.transitKeys().merge(name, merge));
      }
      assertEquals(3, seen.size());
    }
  }

  @Test
  void followsThePages() throws IOException {
    FakeServer.Handler handler =
        exchange -> {
          String query = String.valueOf(exchange.getRequestURI().getRawQuery());
          exchange.getResponseHeaders().set("Total-Count", "3");
          if (query.contains("after=b%20c")) {
            FakeServer.json(exchange, "[{\"name\":\"d\"}]");
            return;
          }
          exchange.getResponseHeaders().set("Link", "</docs>; rel=\"help\", </v1/x?after=b%20c&limit=2>; rel=\"next\"");
          FakeServer.json(exchange, "[{\"name\":\"a\"},{\"name\":\"b c\"}]");
        };
    try (FakeServer server = new FakeServer(handler)) {
      Client client = server.client().build();
      Page<TransitKeyState> page = client.transitKeys().list();
      assertEquals("b c", page.after());
      assertEquals(3, page.total());
      List<String> names = new ArrayList<>();
      client.transitKeys().listEach(TransitKeysListOptions.builder().limit(2L).build()).forEach(key -> names.add(key.name()));
      assertEquals(List.of("a", "b c", "d"), names);
    }
  }

  @Test
  void hidesSecretsAndRefusesWhatCannotBeMeant() {
    assertFalse(new DataKey(new byte[] {1}, "c", 1).toString().contains("1"));
    assertFalse(new BatchResult<>("topsecret", null, null).toString().contains("topsecret"));
    List<Client.Builder> wrong =
        List.of(
            Client.builder(),
            Client.builder().address("https://h").token("t").approle("r", "s"),
            Client.builder().address("https://h").approle("r", null),
            Client.builder().address("http://keys.example"),
            Client.builder().address("ftp://h"),
            Client.builder().address("keys.example:4646"),
            Client.builder().address("https://u:p@h"),
            Client.builder().address("https://h").ca("x"),
            Client.builder().address("https://h").token("t\n"),
            Client.builder().address("https://h").attempts(0));
    for (Client.Builder builder : wrong) assertThrows(IllegalArgumentException.class, builder::build);
  }
}
