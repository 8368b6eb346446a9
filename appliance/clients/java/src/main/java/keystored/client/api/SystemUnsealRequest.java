// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param pin The user PIN of every configured token. May be null: absent.
 * @param pins PINs by name of the token, where they differ. May be null: absent.
 * @param unsealCode What the appliance has shown on its console and in its log when it was sealed; needed from
 * elsewhere than the machine itself. May be null: absent.
 */
public record SystemUnsealRequest(
    @JsonProperty("pin") String pin,
    @JsonProperty("pins") Map<String, String> pins,
    @JsonProperty("unseal-code") String unsealCode) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "SystemUnsealRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String pin;
    private Map<String, String> pins;
    private String unsealCode;

    private Builder() {}

    /**
     * The user PIN of every configured token.
     *
     * @param value null: absent
     * @return this
     */
    public Builder pin(String value) {
      pin = value;
      return this;
    }

    /**
     * PINs by name of the token, where they differ.
     *
     * @param value null: absent
     * @return this
     */
    public Builder pins(Map<String, String> value) {
      pins = value;
      return this;
    }

    /**
     * What the appliance has shown on its console and in its log when it was sealed; needed from elsewhere than
     * the machine itself.
     *
     * @param value null: absent
     * @return this
     */
    public Builder unsealCode(String value) {
      unsealCode = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public SystemUnsealRequest build() {
      return new SystemUnsealRequest(
          pin,
          pins,
          unsealCode);
    }
  }
}
