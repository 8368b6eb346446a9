// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param passphrase Opens the backup again; 12 characters or more. May be null: absent.
 * @param recipients age recipients, in place of a passphrase: all age1… or all age1pq1…. May be null: absent.
 */
public record SystemBackupRequest(
    @JsonProperty("passphrase") String passphrase,
    @JsonProperty("recipients") List<String> recipients) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @return a builder
   */
  public static Builder builder() {
    Builder builder = new Builder();
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "SystemBackupRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String passphrase;
    private List<String> recipients;

    private Builder() {}

    /**
     * Opens the backup again; 12 characters or more.
     *
     * @param value null: absent
     * @return this
     */
    public Builder passphrase(String value) {
      passphrase = value;
      return this;
    }

    /**
     * age recipients, in place of a passphrase: all age1… or all age1pq1….
     *
     * @param value null: absent
     * @return this
     */
    public Builder recipients(List<String> value) {
      recipients = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public SystemBackupRequest build() {
      return new SystemBackupRequest(
          passphrase,
          recipients);
    }
  }
}
