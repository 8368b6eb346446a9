// A server of the tests that answers as they say.
package keystored.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

final class FakeServer implements AutoCloseable {
  interface Handler {
    void answer(HttpExchange exchange) throws IOException, InterruptedException;
  }

  static final String CIPHERTEXT = "{\"ciphertext\":\"store:v1:AAAA\",\"key-version\":1}";

  private final HttpServer server;

  FakeServer(Handler handler) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            handler.answer(exchange);
          } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
          }
        });
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  Client.Builder client() {
    return Client.builder().address(url());
  }

  @Override
  public void close() {
    server.stop(0);
  }

  /** An address nobody listens on. */
  static String dead() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return "http://127.0.0.1:" + socket.getLocalPort();
    }
  }

  static void answer(HttpExchange exchange, int status, String mediaType, String body) throws IOException {
    byte[] octets = body.getBytes(StandardCharsets.UTF_8);
    exchange.getRequestBody().readAllBytes();
    if (mediaType != null) exchange.getResponseHeaders().set("Content-Type", mediaType);
    exchange.sendResponseHeaders(status, octets.length == 0 ? -1 : octets.length);
    if (octets.length > 0) exchange.getResponseBody().write(octets);
  }

  static void json(HttpExchange exchange, String body) throws IOException {
    answer(exchange, 200, "application/json", body);
  }

  static void refuse(HttpExchange exchange, int status, String code, String retryAfter) throws IOException {
    if (retryAfter != null) exchange.getResponseHeaders().set("Retry-After", retryAfter);
    String document =
        "{\"type\":\"urn:keystore:error:%2$s\",\"title\":\"T\",\"status\":%1$d,\"detail\":\"D.\",\"code\":\"%2$s\",\"request-id\":\"r-1\","
            + "\"errors\":[{\"error-message\":\"m\",\"error-info\":\"i\"}]}";
    answer(exchange, status, "application/problem+json", String.format(document, status, code));
  }
}
