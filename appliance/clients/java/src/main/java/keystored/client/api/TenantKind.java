// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What the tenant is; there is one system tenant. Later versions may answer others.
 *
 * @param value as on the wire
 */
public record TenantKind(String value) {
  /** The value {@code system}. */
  public static final TenantKind SYSTEM = new TenantKind("system");

  /** The value {@code site-provider}. */
  public static final TenantKind SITE_PROVIDER = new TenantKind("site-provider");

  /** The value {@code application-owner}. */
  public static final TenantKind APPLICATION_OWNER = new TenantKind("application-owner");

  /**
   * Takes any value: the appliance says which it knows.
   *
   * @param value as on the wire
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public TenantKind {}

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
