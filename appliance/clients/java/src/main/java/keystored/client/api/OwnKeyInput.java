// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param number Number of the key.
 * @param carrying The carrying by which it came into the tokens. May be null: absent.
 */
public record OwnKeyInput(
    @JsonProperty("number") Long number,
    @JsonProperty("carrying") String carrying) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param number Number of the key.
   * @return a builder
   */
  public static Builder builder(Long number) {
    Builder builder = new Builder();
    builder.number = number;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private Long number;
    private String carrying;

    private Builder() {}

    /**
     * The carrying by which it came into the tokens.
     *
     * @param value null: absent
     * @return this
     */
    public Builder carrying(String value) {
      carrying = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public OwnKeyInput build() {
      return new OwnKeyInput(
          number,
          carrying);
    }
  }
}
