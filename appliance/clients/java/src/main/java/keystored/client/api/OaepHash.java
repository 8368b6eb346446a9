// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One of a few values. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record OaepHash(String value) {
  /** The value {@code sha256}. */
  public static final OaepHash SHA256 = new OaepHash("sha256");

  /** The value {@code sha384}. */
  public static final OaepHash SHA384 = new OaepHash("sha384");

  /** The value {@code sha512}. */
  public static final OaepHash SHA512 = new OaepHash("sha512");

  /** The value {@code sha1}. */
  public static final OaepHash SHA1 = new OaepHash("sha1");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public OaepHash {}

  /**
   * Answers the value.
   *
   * @return as on the wire
   */
  @Override
  @JsonValue
  public String value() {
    return value;
  }

  @Override
  public String toString() {
    return String.valueOf(value);
  }
}
