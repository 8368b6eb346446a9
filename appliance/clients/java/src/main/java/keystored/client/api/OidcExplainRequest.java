// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param claims Claims as the provider sends them. May be null: absent.
 * @param login Reference of a failed sign-in, as shown on its page. May be null: absent.
 */
public record OidcExplainRequest(
    @JsonProperty("claims") Map<String, Object> claims,
    @JsonProperty("login") String login) {
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
    return "OidcExplainRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private Map<String, Object> claims;
    private String login;

    private Builder() {}

    /**
     * Claims as the provider sends them.
     *
     * @param value null: absent
     * @return this
     */
    public Builder claims(Map<String, Object> value) {
      claims = value;
      return this;
    }

    /**
     * Reference of a failed sign-in, as shown on its page.
     *
     * @param value null: absent
     * @return this
     */
    public Builder login(String value) {
      login = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public OidcExplainRequest build() {
      return new OidcExplainRequest(
          claims,
          login);
    }
  }
}
