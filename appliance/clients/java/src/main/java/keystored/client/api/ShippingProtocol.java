// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What the receiver speaks. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record ShippingProtocol(String value) {
  /** The value {@code syslog}. */
  public static final ShippingProtocol SYSLOG = new ShippingProtocol("syslog");

  /** The value {@code json-lines}. */
  public static final ShippingProtocol JSON_LINES = new ShippingProtocol("json-lines");

  /** The value {@code splunk}. */
  public static final ShippingProtocol SPLUNK = new ShippingProtocol("splunk");

  /** The value {@code elastic}. */
  public static final ShippingProtocol ELASTIC = new ShippingProtocol("elastic");

  /** The value {@code loki}. */
  public static final ShippingProtocol LOKI = new ShippingProtocol("loki");

  /** The value {@code otlp}. */
  public static final ShippingProtocol OTLP = new ShippingProtocol("otlp");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ShippingProtocol {}

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
