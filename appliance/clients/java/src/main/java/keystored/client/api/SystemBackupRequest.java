// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param passphrase Opens the backup again; 12 characters or more.
 */
public record SystemBackupRequest(
    @JsonProperty("passphrase") String passphrase) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param passphrase Opens the backup again; 12 characters or more.
   * @return a builder
   */
  public static Builder builder(String passphrase) {
    Builder builder = new Builder();
    builder.passphrase = passphrase;
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

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public SystemBackupRequest build() {
      return new SystemBackupRequest(
          passphrase);
    }
  }
}
