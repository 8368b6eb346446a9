// What is sent again, and where: decided by what is known not to have been done. The table of test/appliance/clients/repetition.ts.
package keystored.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RepetitionTest {
  /** {@code list} may be repeated without harm, {@code rotate} may not; numbers are requests that arrived at each place. */
  @ParameterizedTest(name = "{0} at {1}: {2}, asked {3}")
  @CsvSource({
    "rotate, refused ok, done, 0 1",
    "rotate, cut ok, lost, 1 0",
    "rotate, busy ok, done, 1 1",
    "rotate, busy-unknown ok, refused, 1 0",
    "list, busy-unknown ok, done, 1 1",
    "rotate, gateway ok, refused, 1 0",
    "list, gateway ok, done, 1 1",
    "rotate, gateway-busy ok, refused, 1 0",
    "list, gateway-busy ok, done, 1 1",
    "rotate, limited ok, refused, 1 0",
    "rotate, refusal ok, refused, 1 0",
    "rotate, refused, lost, 0"
  })
  void repeatsWhatIsKnownToBeUndone(String operation, String places, String outcome, String asked) throws IOException {
    List<Place> opened = new ArrayList<>();
    try {
      for (String place : places.split(" ")) opened.add(new Place(place));
      Client client = Client.builder().address(opened.stream().map(one -> one.url).toArray(String[]::new)).attempts(1).build();
      assertEquals(outcome, outcomeOf(client, operation));
      assertEquals(asked, String.join(" ", opened.stream().map(one -> one.asked.toString()).toList()));
    } finally {
      for (Place one : opened) one.close();
    }
  }

  @Test
  void repeatsAHarmlessRequestThatWasCut() throws IOException {
    try (Place cut = new Place("cut");
        Place ok = new Place("ok")) {
      Client client = Client.builder().address(cut.url, ok.url).attempts(1).build();
      assertEquals("done", outcomeOf(client, "list"));
      // The JDK repeats a GET by itself as well.
      assertTrue(cut.asked.get() >= 1);
      assertEquals(1, ok.asked.get());
    }
  }

  @Test
  void sendsNoRotationAgainThatAKeptConnectionMayHaveDelivered() throws IOException {
    try (Place kept = new Place("cut-kept");
        Place ok = new Place("ok")) {
      Client client = Client.builder().address(kept.url, ok.url).attempts(1).build();
      assertEquals("done", outcomeOf(client, "list"));
      assertEquals("lost", outcomeOf(client, "rotate"));
      assertEquals("2 0", kept.asked + " " + ok.asked);
    }
  }

  /** The other side ends a handshake: from here that looks the same as an alert after the request. */
  @Test
  void takesNoAlertOfTheOtherSideForUnsent() throws IOException {
    byte[] handshakeFailure = {21, 3, 3, 0, 2, 2, 40};
    AtomicInteger connections = new AtomicInteger();
    try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      Thread alerting =
          new Thread(
              () -> {
                try {
                  while (true) {
                    try (Socket socket = server.accept()) {
                      connections.incrementAndGet();
                      socket.getInputStream().read(new byte[512]);
                      socket.getOutputStream().write(handshakeFailure);
                      socket.getOutputStream().flush();
                      socket.getInputStream().readAllBytes();
                    }
                  }
                } catch (IOException closed) {
                  // The test is over.
                }
              });
      alerting.setDaemon(true);
      alerting.start();
      String address = "https://127.0.0.1:" + server.getLocalPort();
      Client client = Client.builder().address(address, address).attempts(2).build();
      TransportException lost = assertThrows(TransportException.class, () -> client.transitKeys().rotate("k"));
      assertTrue(lost.wasSent());
      assertEquals(1, connections.get());
    }
  }

  private static String outcomeOf(Client client, String operation) {
    try {
      if (operation.equals("list")) client.transitKeys().list();
      else client.transitKeys().rotate("k");
      return "done";
    } catch (ProblemException refused) {
      return "refused";
    } catch (TransportException lost) {
      return "lost";
    }
  }

  /** What is at an address. {@code refused}: nobody listens. {@code cut-kept}: the second request is cut. */
  private static final class Place implements AutoCloseable {
    final AtomicInteger asked = new AtomicInteger();
    final String url;
    private final FakeServer server;

    Place(String kind) throws IOException {
      server = kind.equals("refused") ? null : new FakeServer(exchange -> answer(kind, exchange));
      url = server == null ? FakeServer.dead() : server.url();
    }

    private void answer(String kind, HttpExchange exchange) throws IOException {
      int index = asked.getAndIncrement();
      exchange.getRequestBody().readAllBytes();
      switch (kind) {
        case "ok" -> FakeServer.json(exchange, "[]");
        case "cut" -> exchange.close();
        case "cut-kept" -> {
          if (index == 0) FakeServer.json(exchange, "[]");
          else exchange.close();
        }
        case "busy" -> FakeServer.refuse(exchange, 503, "sealed", "1");
        case "busy-unknown" -> FakeServer.refuse(exchange, 503, "odd", null);
        case "gateway" -> FakeServer.answer(exchange, 502, "text/html", "<h1>Elsewhere</h1>");
        case "gateway-busy" -> {
          exchange.getResponseHeaders().set("Retry-After", "1");
          FakeServer.answer(exchange, 503, "text/html", "<h1>Elsewhere</h1>");
        }
        case "limited" -> FakeServer.refuse(exchange, 429, "rate-limited", "1");
        case "refusal" -> FakeServer.refuse(exchange, 409, "conflict", null);
        default -> throw new IllegalArgumentException(kind);
      }
    }

    @Override
    public void close() {
      if (server != null) server.close();
    }
  }
}
