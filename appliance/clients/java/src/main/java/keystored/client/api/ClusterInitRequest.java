// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param formerKeysStay With a token in each appliance: former keys of CAs that are objects in the token of this
 * one, with certificates that did not end, stay there. Only this appliance makes their revocation lists and OCSP
 * answers then. May be null: absent.
 */
public record ClusterInitRequest(
    @JsonProperty("former-keys-stay") Boolean formerKeysStay) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private Boolean formerKeysStay;

    private Builder() {}

    /**
     * With a token in each appliance: former keys of CAs that are objects in the token of this one, with
     * certificates that did not end, stay there. Only this appliance makes their revocation lists and OCSP
     * answers then.
     *
     * @param value null: absent
     * @return this
     */
    public Builder formerKeysStay(Boolean value) {
      formerKeysStay = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ClusterInitRequest build() {
      return new ClusterInitRequest(
          formerKeysStay);
    }
  }
}
