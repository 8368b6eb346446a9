// The variable parts of a call, as the generated methods know them.
package keystored.client.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The variable parts of one call. */
public final class Parts {
  final List<String> names;
  final Map<String, String> query = new LinkedHashMap<>();
  final Map<String, String> headers = new LinkedHashMap<>();
  Object document;
  byte[] octets;
  String mediaType;

  /**
   * Starts with the path parameters.
   *
   * @param names in the order of the path
   */
  public Parts(String... names) {
    this.names = List.of(names);
  }

  /**
   * Sends a document as JSON.
   *
   * @param value the document
   * @return this
   */
  public Parts body(Object value) {
    document = value;
    return this;
  }

  /**
   * Sends octets as they are.
   *
   * @param type their media type
   * @param content the octets
   * @return this
   */
  public Parts octets(String type, byte[] content) {
    mediaType = type;
    octets = content;
    return this;
  }

  /**
   * Adds a query parameter, unless it is null.
   *
   * @param name of the parameter
   * @param value of the parameter
   * @return this
   */
  public Parts query(String name, Object value) {
    if (value != null) query.put(name, value.toString());
    return this;
  }

  /**
   * Adds a header, unless it is null.
   *
   * @param name of the header
   * @param value of the header
   * @return this
   */
  public Parts header(String name, Object value) {
    if (value != null) headers.put(name, value.toString());
    return this;
  }

  /** The path and query of a request. A name that would name another path is refused. */
  String target(String path) {
    StringBuilder target = new StringBuilder();
    int from = 0;
    for (String name : names) {
      if (name.isEmpty() || name.equals(".") || name.equals("..")) {
        throw new IllegalArgumentException("\"" + name + "\" cannot stand in the path " + path);
      }
      int at = path.indexOf("{}", from);
      target.append(path, from, at).append(Text.percentEncoded(name));
      from = at + 2;
    }
    target.append(path.substring(from));
    List<String> pairs = new ArrayList<>();
    query.forEach((name, value) -> pairs.add(Text.percentEncoded(name) + "=" + Text.percentEncoded(value)));
    return pairs.isEmpty() ? target.toString() : target + "?" + String.join("&", pairs);
  }
}
