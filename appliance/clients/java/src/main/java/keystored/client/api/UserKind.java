// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Where the name of the user comes from: names of different sources may be alike. Later versions may answer
 * others.
 *
 * @param value as on the wire
 */
public record UserKind(String value) {
  /** The value {@code root-token}. */
  public static final UserKind ROOT_TOKEN = new UserKind("root-token");

  /** The value {@code approle}. */
  public static final UserKind APPROLE = new UserKind("approle");

  /** The value {@code sign-in}. */
  public static final UserKind SIGN_IN = new UserKind("sign-in");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public UserKind {}

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
