// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param operation What to do.
 */
public record SystemOperateRequest(
    @JsonProperty("operation") SystemOperateRequestOperation operation) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param operation What to do.
   * @return a builder
   */
  public static Builder builder(SystemOperateRequestOperation operation) {
    Builder builder = new Builder();
    builder.operation = operation;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private SystemOperateRequestOperation operation;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public SystemOperateRequest build() {
      return new SystemOperateRequest(
          operation);
    }
  }
}
