// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param member Name or id of the appliance, as the state of the cluster has it.
 * @param evenIfAlive Remove it although it gives signs of life. It refuses everything within two seconds, and
 * for ever. May be null: absent.
 */
public record ClusterRemoveMemberRequest(
    @JsonProperty("member") String member,
    @JsonProperty("even-if-alive") Boolean evenIfAlive) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param member Name or id of the appliance, as the state of the cluster has it.
   * @return a builder
   */
  public static Builder builder(String member) {
    Builder builder = new Builder();
    builder.member = member;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String member;
    private Boolean evenIfAlive;

    private Builder() {}

    /**
     * Remove it although it gives signs of life. It refuses everything within two seconds, and for ever.
     *
     * @param value null: absent
     * @return this
     */
    public Builder evenIfAlive(Boolean value) {
      evenIfAlive = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ClusterRemoveMemberRequest build() {
      return new ClusterRemoveMemberRequest(
          member,
          evenIfAlive);
    }
  }
}
