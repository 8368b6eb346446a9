// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Why (RFC 5280 section 5.3.1). Later versions may answer others.
 *
 * @param value as on the wire
 */
public record CaRevokeRequestReason(String value) {
  /** The value {@code unspecified}. */
  public static final CaRevokeRequestReason UNSPECIFIED = new CaRevokeRequestReason("unspecified");

  /** The value {@code key-compromise}. */
  public static final CaRevokeRequestReason KEY_COMPROMISE = new CaRevokeRequestReason("key-compromise");

  /** The value {@code affiliation-changed}. */
  public static final CaRevokeRequestReason AFFILIATION_CHANGED = new CaRevokeRequestReason("affiliation-changed");

  /** The value {@code superseded}. */
  public static final CaRevokeRequestReason SUPERSEDED = new CaRevokeRequestReason("superseded");

  /** The value {@code cessation-of-operation}. */
  public static final CaRevokeRequestReason CESSATION_OF_OPERATION = new CaRevokeRequestReason("cessation-of-operation");

  /** The value {@code privilege-withdrawn}. */
  public static final CaRevokeRequestReason PRIVILEGE_WITHDRAWN = new CaRevokeRequestReason("privilege-withdrawn");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public CaRevokeRequestReason {}

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
