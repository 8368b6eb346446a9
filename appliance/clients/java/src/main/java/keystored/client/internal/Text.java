// Spellings of HTTP: percent-encoding, media types, Retry-After and the link to the next page.
package keystored.client.internal;

import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Spellings of HTTP. */
final class Text {
  private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  private static final Pattern NEXT = Pattern.compile("<([^>]*)>\\s*;[^,]*rel=\"?next\"?");

  private Text() {}

  /** RFC 3986 section 2.1; URLEncoder would write a space as a plus sign. */
  static String percentEncoded(String text) {
    StringBuilder encoded = new StringBuilder();
    for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
      char letter = (char) (octet & 0xff);
      if (UNRESERVED.indexOf(letter) >= 0) encoded.append(letter);
      else encoded.append(String.format("%%%02X", (int) letter));
    }
    return encoded.toString();
  }

  /** In lower case and without parameters; empty for none. */
  static String mediaType(HttpHeaders headers) {
    return headers.firstValue("content-type").orElse("").split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
  }

  /** Both forms of RFC 9110 section 10.2.3; zero for none. */
  static Duration retryAfter(HttpHeaders headers) {
    String text = headers.firstValue("retry-after").orElse("").strip();
    if (text.matches("\\d{1,9}")) return Duration.ofSeconds(Long.parseLong(text));
    try {
      Duration wait = Duration.between(Instant.now(), ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
      return wait.isNegative() ? Duration.ZERO : wait;
    } catch (DateTimeParseException notADate) {
      return Duration.ZERO;
    }
  }

  /** Path and query of the link of RFC 8288 with {@code rel="next"}. */
  static Optional<URI> next(HttpHeaders headers) {
    Matcher matcher = NEXT.matcher(String.join(",", headers.allValues("link")));
    return matcher.find() ? Optional.of(URI.create(matcher.group(1))) : Optional.empty();
  }

  /** Where the next page begins. */
  static Optional<String> nextAfter(HttpHeaders headers) {
    String query = next(headers).map(URI::getRawQuery).orElse(null);
    if (query == null) return Optional.empty();
    for (String pair : query.split("&")) {
      String[] parts = pair.split("=", 2);
      if (parts[0].equals("after") && parts.length == 2) return Optional.of(URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    return Optional.empty();
  }
}
