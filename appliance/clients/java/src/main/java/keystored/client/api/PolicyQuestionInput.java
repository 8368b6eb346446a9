// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param path The path of a request.
 * @param operation What would be done there.
 */
public record PolicyQuestionInput(
    @JsonProperty("path") String path,
    @JsonProperty("operation") PolicyCheckRequestOperation operation) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param path The path of a request.
   * @param operation What would be done there.
   * @return a builder
   */
  public static Builder builder(String path, PolicyCheckRequestOperation operation) {
    Builder builder = new Builder();
    builder.path = path;
    builder.operation = operation;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String path;
    private PolicyCheckRequestOperation operation;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyQuestionInput build() {
      return new PolicyQuestionInput(
          path,
          operation);
    }
  }
}
