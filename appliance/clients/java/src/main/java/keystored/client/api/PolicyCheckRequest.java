// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param path The path of a request.
 * @param operation What would be done there.
 * @param accessor Accessor of the token meant; default: the own one. May be null: absent.
 * @param policies Or the policies of a token that need not exist. May be null: absent.
 * @param names What fields of the request name, so that this is judged too: field to name. May be null: absent.
 */
public record PolicyCheckRequest(
    @JsonProperty("path") String path,
    @JsonProperty("operation") PolicyCheckRequestOperation operation,
    @JsonProperty("accessor") String accessor,
    @JsonProperty("policies") List<String> policies,
    @JsonProperty("names") Map<String, String> names) {
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
    private String accessor;
    private List<String> policies;
    private Map<String, String> names;

    private Builder() {}

    /**
     * Accessor of the token meant; default: the own one.
     *
     * @param value null: absent
     * @return this
     */
    public Builder accessor(String value) {
      accessor = value;
      return this;
    }

    /**
     * Or the policies of a token that need not exist.
     *
     * @param value null: absent
     * @return this
     */
    public Builder policies(List<String> value) {
      policies = value;
      return this;
    }

    /**
     * What fields of the request name, so that this is judged too: field to name.
     *
     * @param value null: absent
     * @return this
     */
    public Builder names(Map<String, String> value) {
      names = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyCheckRequest build() {
      return new PolicyCheckRequest(
          path,
          operation,
          accessor,
          policies,
          names);
    }
  }
}
