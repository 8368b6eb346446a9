// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param descriptiveName A name for people. May be null: absent.
 * @param kind What the tenant is; there is one system tenant. May be null: absent.
 * @param policies What the whole tenant may do at most; default by kind. May be null: absent.
 * @param requestsPerMinute Requests that the tenant may send in a minute to one appliance; 0: as many as it
 * likes. May be null: absent.
 * @param tokenSecondsPerMinute Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as
 * many as it likes. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 */
public record TenantReplacement(
    @JsonProperty("descriptive-name") String descriptiveName,
    @JsonProperty("kind") TenantKind kind,
    @JsonProperty("policies") List<String> policies,
    @JsonProperty("requests-per-minute") Long requestsPerMinute,
    @JsonProperty("token-seconds-per-minute") Long tokenSecondsPerMinute,
    @JsonProperty("labels") Map<String, String> labels) {
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
    private String descriptiveName;
    private TenantKind kind;
    private List<String> policies;
    private Long requestsPerMinute;
    private Long tokenSecondsPerMinute;
    private Map<String, String> labels;

    private Builder() {}

    /**
     * A name for people.
     *
     * @param value null: absent
     * @return this
     */
    public Builder descriptiveName(String value) {
      descriptiveName = value;
      return this;
    }

    /**
     * What the tenant is; there is one system tenant.
     *
     * @param value null: absent
     * @return this
     */
    public Builder kind(TenantKind value) {
      kind = value;
      return this;
    }

    /**
     * What the whole tenant may do at most; default by kind.
     *
     * @param value null: absent
     * @return this
     */
    public Builder policies(List<String> value) {
      policies = value;
      return this;
    }

    /**
     * Requests that the tenant may send in a minute to one appliance; 0: as many as it likes.
     *
     * @param value null: absent
     * @return this
     */
    public Builder requestsPerMinute(Long value) {
      requestsPerMinute = value;
      return this;
    }

    /**
     * Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes.
     *
     * @param value null: absent
     * @return this
     */
    public Builder tokenSecondsPerMinute(Long value) {
      tokenSecondsPerMinute = value;
      return this;
    }

    /**
     * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name
     * and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
     *
     * @param value null: absent
     * @return this
     */
    public Builder labels(Map<String, String> value) {
      labels = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TenantReplacement build() {
      return new TenantReplacement(
          descriptiveName,
          kind,
          policies,
          requestsPerMinute,
          tokenSecondsPerMinute,
          labels);
    }
  }
}
