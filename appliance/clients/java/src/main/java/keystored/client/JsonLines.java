// JSON documents, a line each, as they arrive.
package keystored.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** JSON documents, a line each, as they arrive. Close it to end the connection. */
public final class JsonLines implements Iterator<JsonNode>, AutoCloseable {
  private final BufferedReader lines;
  private final ObjectMapper mapper;
  private final String address;
  private JsonNode next;

  /**
   * Reads an answer.
   *
   * @param body of the answer
   * @param mapper reads the documents
   * @param address is named when the answer breaks off
   */
  public JsonLines(InputStream body, ObjectMapper mapper, String address) {
    this.lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    this.mapper = mapper;
    this.address = address;
  }

  @Override
  public boolean hasNext() {
    if (next != null) return true;
    try {
      String line = lines.readLine();
      if (line == null) return false;
      next = mapper.readTree(line);
      return true;
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
      lines.close();
    } catch (IOException alreadyClosed) {
      // There is nothing left to release.
    }
  }
}
