// JSON documents, a line each, as they arrive.
package keystored.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/** JSON documents, a line each, as they arrive, over all answers that links lead to. Close it to end the connection. */
public final class JsonLines implements Iterator<JsonNode>, AutoCloseable {
  private final Function<String, Part> following;
  private final ObjectMapper mapper;
  private final String address;
  /** null at the end of the last one. */
  private BufferedReader lines;
  private String link;
  private JsonNode next;
  /** In the order of time: further answers to a search for the newest are older. */
  private final Deque<List<JsonNode>> newer = new ArrayDeque<>();
  private Iterator<JsonNode> held = Collections.emptyIterator();

  /**
   * One answer.
   *
   * @param body of the answer
   * @param next path and query of what follows; null for the last
   */
  public record Part(InputStream body, String next) {}

  /**
   * Reads an answer, and those that follow it.
   *
   * @param first answer
   * @param following asks for what a link names
   * @param mapper reads the documents
   * @param address is named when the answer breaks off
   */
  public JsonLines(Part first, Function<String, Part> following, ObjectMapper mapper, String address) {
    this.following = following;
    this.mapper = mapper;
    this.address = address;
    begin(first);
  }

  private void begin(Part part) {
    lines = part == null ? null : new BufferedReader(new InputStreamReader(part.body(), StandardCharsets.UTF_8));
    link = part == null ? null : part.next();
  }

  @Override
  public boolean hasNext() {
    while (next == null) {
      if (held.hasNext()) next = held.next();
      else if (lines != null) read();
      else if (newer.isEmpty()) return false;
      else held = newer.pop().iterator();
    }
    return true;
  }

  /** The next document, or all of an answer that comes after its following ones. */
  private void read() {
    try {
      boolean leadsBack = link != null && link.matches(".*[?&]before=.*");
      List<JsonNode> documents = new ArrayList<>();
      String line = lines.readLine();
      for (; leadsBack && line != null; line = lines.readLine()) documents.add(mapper.readTree(line));
      if (leadsBack) newer.push(documents);
      if (line != null) next = mapper.readTree(line);
      else {
        lines.close();
        begin(link == null ? null : following.apply(link));
      }
    } catch (IOException brokenOff) {
      throw new TransportException(address, "the answer broke off", true, brokenOff);
    }
  }

  @Override
  public JsonNode next() {
    if (!hasNext()) throw new NoSuchElementException();
    JsonNode document = next;
    next = null;
    return document;
  }

  @Override
  public void close() {
    try {
      if (lines != null) lines.close();
    } catch (IOException alreadyClosed) {
      // There is nothing left to release.
    }
  }
}
