// Batches and streams against a server of the test.
package keystored.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BatchTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @Test
  void anItemWithoutWhatTheActionNeedsIsRefusedBeforeAnythingIsSent() {
    assertEquals("plaintext", assertThrows(NullPointerException.class, () -> EncryptItem.of(null)).getMessage());
    assertEquals("ciphertext", assertThrows(NullPointerException.class, () -> DecryptItem.of(null)).getMessage());
    assertEquals("data", assertThrows(NullPointerException.class, () -> SignItem.of(null)).getMessage());
    assertEquals("signature", assertThrows(NullPointerException.class, () -> VerifyItem.of(new byte[0], null)).getMessage());
  }

  @Test
  void joinsTheResults() throws IOException {
    List<Integer> sizes = Collections.synchronizedList(new ArrayList<>());
    FakeServer.Handler handler =
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          JsonNode items = MAPPER.readTree(body).get("batch-input");
          sizes.add(items.size());
          if (!exchange.getRequestURI().getPath().endsWith("/encrypt-batch") || body.length > 4 << 20) {
            FakeServer.refuse(exchange, 413, "payload-too-large", null);
            return;
          }
          List<String> results = new ArrayList<>();
          for (JsonNode item : items) {
            if ("bad".equals(item.path("context").asText())) results.add("{\"status\":400,\"code\":\"context-not-allowed\",\"error-message\":\"No.\"}");
            else results.add("{\"ciphertext\":\"store:v1:" + item.get("plaintext").asText() + "\"}");
          }
          // As the appliance does when every item failed.
          FakeServer.answer(exchange, items.size() == 1 ? 400 : 200, "application/json", "{\"batch-results\":" + results + "}");
        };
    try (FakeServer server = new FakeServer(handler)) {
      Key key = server.client().build().key("k");
      BatchResult<String> one = key.encryptBatch(List.of(new EncryptItem(new byte[0], "bad", null, "row 1"))).get(0);
      assertEquals("context-not-allowed 400 row 1", one.problem().code() + " " + one.problem().status() + " " + one.reference());
      // Two items of 1.5 MiB do not fit in a request, and one of 4 MiB is its own fault.
      sizes.clear();
      byte[] large = new byte[1_500_000];
      List<EncryptItem> items =
          List.of(EncryptItem.of(large), EncryptItem.of(large), EncryptItem.of(new byte[3 << 20]), EncryptItem.of(new byte[0]), EncryptItem.of(new byte[] {'x'}));
      List<BatchResult<String>> results = key.withBatchesAtOnce(1).encryptBatch(items);
      assertEquals("payload-too-large", results.get(2).problem().code());
      assertEquals("store:v1:eA==", results.get(4).get());
      assertEquals(List.of(1, 1, 1, 2), sizes);
    }
  }

  @Test
  void aStreamTakesNoMoreThanIsUnderWay() throws IOException, InterruptedException {
    AtomicInteger calls = new AtomicInteger();
    FakeServer.Handler handler =
        exchange -> {
          int items = MAPPER.readTree(exchange.getRequestBody().readAllBytes()).get("batch-input").size();
          calls.incrementAndGet();
          FakeServer.json(exchange, "{\"batch-results\":" + Collections.nCopies(items, FakeServer.CIPHERTEXT) + "}");
        };
    try (FakeServer server = new FakeServer(handler)) {
      AtomicInteger taken = new AtomicInteger();
      Iterator<EncryptItem> endless =
          IntStream.iterate(0, index -> index + 1)
              .mapToObj(
                  index -> {
                    taken.incrementAndGet();
                    return EncryptItem.of(new byte[] {1});
                  })
              .iterator();
      try (BatchStream<String> stream = server.client().build().key("k").encryptStream(endless)) {
        stream.next();
        Thread.sleep(300);
        assertTrue(taken.get() < 5_000, taken + " items were taken before the second was read");
        for (int index = 0; index < 2_499; index++) stream.next();
      }
      assertTrue(calls.get() <= 8, calls + " requests for 2,500 results");
    }
  }
}
