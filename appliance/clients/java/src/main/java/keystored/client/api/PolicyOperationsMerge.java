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
public record PolicyOperationsMerge(
    @JsonProperty("all") PolicyEffect all,
    @JsonProperty("create") PolicyEffect create,
    @JsonProperty("read") PolicyEffect read,
    @JsonProperty("update") PolicyEffect update,
    @JsonProperty("delete") PolicyEffect delete,
    @JsonProperty("execute") PolicyEffect execute) {
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
    private PolicyEffect all;
    private PolicyEffect create;
    private PolicyEffect read;
    private PolicyEffect update;
    private PolicyEffect delete;
    private PolicyEffect execute;

    private Builder() {}

    /**
     * Whether anything may be done that no other field here says.
     *
     * @param value null: absent
     * @return this
     */
    public Builder all(PolicyEffect value) {
      all = value;
      return this;
    }

    /**
     * Whether entries may be made.
     *
     * @param value null: absent
     * @return this
     */
    public Builder create(PolicyEffect value) {
      create = value;
      return this;
    }

    /**
     * Whether it may be read.
     *
     * @param value null: absent
     * @return this
     */
    public Builder read(PolicyEffect value) {
      read = value;
      return this;
    }

    /**
     * Whether entries may be changed.
     *
     * @param value null: absent
     * @return this
     */
    public Builder update(PolicyEffect value) {
      update = value;
      return this;
    }

    /**
     * Whether entries may be deleted.
     *
     * @param value null: absent
     * @return this
     */
    public Builder delete(PolicyEffect value) {
      delete = value;
      return this;
    }

    /**
     * Whether actions may be run.
     *
     * @param value null: absent
     * @return this
     */
    public Builder execute(PolicyEffect value) {
      execute = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyOperationsMerge build() {
      return new PolicyOperationsMerge(
          all,
          create,
          read,
          update,
          delete,
          execute);
    }
  }
}
