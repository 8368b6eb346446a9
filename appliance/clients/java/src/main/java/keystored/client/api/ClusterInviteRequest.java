// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param member The `cluster/name` of the one appliance that may come by it; absent: any that is free. May be
 * null: absent.
 */
public record ClusterInviteRequest(
    @JsonProperty("member") String member) {
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
    private String member;

    private Builder() {}

    /**
     * The `cluster/name` of the one appliance that may come by it; absent: any that is free.
     *
     * @param value null: absent
     * @return this
     */
    public Builder member(String value) {
      member = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ClusterInviteRequest build() {
      return new ClusterInviteRequest(
          member);
    }
  }
}
