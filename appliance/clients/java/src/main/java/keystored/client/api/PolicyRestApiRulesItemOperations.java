// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What the rule says of each operation.
 *
 * @param all Whether anything may be done that no other field here says. May be null: absent.
 * @param create Whether entries may be made. May be null: absent.
 * @param read Whether it may be read. May be null: absent.
 * @param update Whether entries may be changed. May be null: absent.
 * @param delete Whether entries may be deleted. May be null: absent.
 * @param execute Whether actions may be run. May be null: absent.
 */
public record PolicyRestApiRulesItemOperations(
    @JsonProperty("all") PolicyRestApiRulesItemOperationsAll all,
    @JsonProperty("create") PolicyRestApiRulesItemOperationsAll create,
    @JsonProperty("read") PolicyRestApiRulesItemOperationsAll read,
    @JsonProperty("update") PolicyRestApiRulesItemOperationsAll update,
    @JsonProperty("delete") PolicyRestApiRulesItemOperationsAll delete,
    @JsonProperty("execute") PolicyRestApiRulesItemOperationsAll execute) {
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
    private PolicyRestApiRulesItemOperationsAll all;
    private PolicyRestApiRulesItemOperationsAll create;
    private PolicyRestApiRulesItemOperationsAll read;
    private PolicyRestApiRulesItemOperationsAll update;
    private PolicyRestApiRulesItemOperationsAll delete;
    private PolicyRestApiRulesItemOperationsAll execute;

    private Builder() {}

    /**
     * Whether anything may be done that no other field here says.
     *
     * @param value null: absent
     * @return this
     */
    public Builder all(PolicyRestApiRulesItemOperationsAll value) {
      all = value;
      return this;
    }

    /**
     * Whether entries may be made.
     *
     * @param value null: absent
     * @return this
     */
    public Builder create(PolicyRestApiRulesItemOperationsAll value) {
      create = value;
      return this;
    }

    /**
     * Whether it may be read.
     *
     * @param value null: absent
     * @return this
     */
    public Builder read(PolicyRestApiRulesItemOperationsAll value) {
      read = value;
      return this;
    }

    /**
     * Whether entries may be changed.
     *
     * @param value null: absent
     * @return this
     */
    public Builder update(PolicyRestApiRulesItemOperationsAll value) {
      update = value;
      return this;
    }

    /**
     * Whether entries may be deleted.
     *
     * @param value null: absent
     * @return this
     */
    public Builder delete(PolicyRestApiRulesItemOperationsAll value) {
      delete = value;
      return this;
    }

    /**
     * Whether actions may be run.
     *
     * @param value null: absent
     * @return this
     */
    public Builder execute(PolicyRestApiRulesItemOperationsAll value) {
      execute = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyRestApiRulesItemOperations build() {
      return new PolicyRestApiRulesItemOperations(
          all,
          create,
          read,
          update,
          delete,
          execute);
    }
  }
}
