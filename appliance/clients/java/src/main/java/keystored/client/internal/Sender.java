// What the generated methods are made of: one method for each kind of answer.
package keystored.client.internal;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import keystored.client.JsonLines;
import keystored.client.Page;
import keystored.client.ProblemException;

/** Sends calls with the token of a client. */
public final class Sender {
  private static final JavaType JSON_TREE = Json.MAPPER.constructType(JsonNode.class);
  private static final Operation RANDOM =
      new Operation("POST", "/v1/state/keystore/crypto-functions/random-bytes", Link.JSON, Operation.Trait.IDEMPOTENT);

  private final Link link;
  private final Authority authority;
  private final Consumer<HttpHeaders> observer;
  private final Map<String, String> headers;

  /**
   * Makes a sender with connections and a token of its own.
   *
   * @param settings what the client was made with
   */
  public Sender(Settings settings) {
    link = new Link(settings);
    authority = new Authority(link, settings);
    observer = unheard -> {};
    headers = Map.of();
  }

  private Sender(Sender other, Consumer<HttpHeaders> observer, Map<String, String> headers) {
    this.link = other.link;
    this.authority = other.authority;
    this.observer = observer;
    this.headers = headers;
  }

  /**
   * Makes a sender that shares everything and tells of the headers of answers.
   *
   * @param consumer of the headers
   * @return the sender
   */
  public Sender observing(Consumer<HttpHeaders> consumer) {
    return new Sender(this, consumer, headers);
  }

  /**
   * Makes a sender that shares everything and sends every call as approved.
   *
   * @param id of the request for approval
   * @return the sender
   */
  public Sender approved(String id) {
    return new Sender(this, observer, Map.of("Approval", id));
  }

  /**
   * Makes a sender that shares everything and asks for approval with every call that needs it.
   *
   * @param reason for the people who approve
   * @return the sender
   */
  public Sender asking(String reason) {
    return new Sender(this, observer, Map.of("Approval-Reason", Text.percentEncoded(reason)));
  }

  /** The one that answered last. */
  String address() {
    return link.address();
  }

  /** Makes sure that there is a token that works. */
  public void logIn() {
    authority.token(link.timeLimit());
  }

  /**
   * Makes a call without an answer.
   *
   * @param operation what to call
   * @param parts of the call
   */
  public void nothing(Operation operation, Parts parts) {
    finish(call(operation, parts)).octets();
  }

  /**
   * Makes a call that answers a document.
   *
   * @param operation what to call
   * @param parts of the call
   * @param type of the document
   * @param <T> of the document
   * @return the document
   */
  public <T> T json(Operation operation, Parts parts, Class<T> type) {
    return read(finish(call(operation, parts)), Json.MAPPER.constructType(type));
  }

  /**
   * Makes a call that answers a document of a generic type.
   *
   * @param operation what to call
   * @param parts of the call
   * @param type of the document
   * @param <T> of the document
   * @return the document
   */
  public <T> T json(Operation operation, Parts parts, TypeReference<T> type) {
    return read(finish(call(operation, parts)), Json.MAPPER.constructType(type));
  }

  /**
   * Makes a call that answers octets.
   *
   * @param operation what to call
   * @param parts of the call
   * @return the octets
   */
  public byte[] octets(Operation operation, Parts parts) {
    return finish(call(operation, parts)).octets();
  }

  /**
   * Makes a call that answers text.
   *
   * @param operation what to call
   * @param parts of the call
   * @return the text
   */
  public String text(Operation operation, Parts parts) {
    return new String(octets(operation, parts), StandardCharsets.UTF_8);
  }

  /**
   * Makes a call whose answer the caller reads and closes. The time limit ends with the headers of the answer.
   *
   * @param operation what to call
   * @param parts of the call
   * @return the answer as it arrives
   */
  public InputStream stream(Operation operation, Parts parts) {
    return finish(call(operation, parts).asStream()).body();
  }

  /**
   * Makes a call that answers documents, a line each, and follows its links.
   *
   * @param operation what to call
   * @param parts of the call
   * @return the documents as they arrive
   */
  public JsonLines lines(Operation operation, Parts parts) {
    return new JsonLines(part(operation, parts), next -> part(new Operation(operation.method(), next, operation.accept(), operation.traits()), new Parts()), Json.MAPPER, link.address());
  }

  private JsonLines.Part part(Operation operation, Parts parts) {
    Link.Answer answer = finish(call(operation, parts).asStream());
    return new JsonLines.Part(
        answer.body(), Text.next(answer.headers()).map(next -> next.getRawPath() + "?" + Objects.toString(next.getRawQuery(), "")).orElse(null));
  }

  /**
   * Makes a call that answers a page of a list.
   *
   * @param operation what to call
   * @param parts of the call
   * @param type of the entries
   * @param <T> of the entries
   * @return the page
   */
  public <T> Page<T> page(Operation operation, Parts parts, Class<T> type) {
    Link.Answer answer = finish(call(operation, parts));
    List<T> items = read(answer, Json.MAPPER.getTypeFactory().constructCollectionType(List.class, type));
    long total = answer.headers().firstValueAsLong("total-count").orElse(-1);
    return new Page<>(items, total, Text.nextAfter(answer.headers()).orElse(null));
  }

  /**
   * Answers random octets.
   *
   * @param count how many
   * @return the octets
   */
  public byte[] random(int count) {
    record Random(@JsonProperty("bytes") byte[] bytes) {}
    Parts parts = new Parts().body(Map.of("bytes", count, "format", "base64"));
    return json(RANDOM, parts, Random.class).bytes();
  }

  /**
   * Sends a request that the description need not have.
   *
   * @param method of HTTP
   * @param target path and query
   * @param body sent as JSON; null: none
   * @return the document; missing for an answer without one
   */
  public JsonNode send(String method, String target, Object body) {
    boolean isHarmless = List.of("GET", "PUT", "DELETE").contains(method);
    Operation.Trait[] traits = isHarmless ? new Operation.Trait[] {Operation.Trait.IDEMPOTENT} : new Operation.Trait[0];
    JsonNode document = read(finish(call(new Operation(method, target, Link.JSON, traits), new Parts().body(body))), JSON_TREE);
    return document == null ? MissingNode.getInstance() : document;
  }

  private Call call(Operation operation, Parts parts) {
    headers.forEach(parts::header);
    return Call.of(operation, parts, link.timeLimit());
  }

  /** After a refused token it logs in anew and sends the call once more: nothing was done. */
  private Link.Answer finish(Call call) {
    if (call.operation().is(Operation.Trait.PUBLIC)) return observed(link.send(call));
    String token = authority.token(call.left());
    try {
      return observed(link.send(call.withToken(token)));
    } catch (ProblemException refused) {
      if (refused.status() != 401 || token == null || !authority.forget(token)) throw refused;
      return observed(link.send(call.withToken(authority.token(call.left()))));
    }
  }

  private Link.Answer observed(Link.Answer answer) {
    observer.accept(answer.headers());
    return answer;
  }

  /** Null for an answer without a body. */
  private static <T> T read(Link.Answer answer, JavaType type) {
    byte[] body = answer.octets();
    if (answer.status() == 204) return null;
    String mediaType = Text.mediaType(answer.headers());
    if (!mediaType.equals(Link.JSON)) {
      throw Link.unexpected(answer, "The answer is " + (mediaType.isEmpty() ? "of no media type" : mediaType) + ", not JSON: it may come from a proxy.", Duration.ZERO);
    }
    try {
      return Json.read(body, type);
    } catch (IOException notTheDocument) {
      throw Link.unexpected(answer, "The answer is not what the description says.", Duration.ZERO);
    }
  }

  /** The JSON of an item of a batch. */
  byte[] encode(Object item) {
    return Json.write(item);
  }

  /** Forgets the token of a login, so that the next call logs in. */
  public void forget() {
    authority.forget();
  }
}
