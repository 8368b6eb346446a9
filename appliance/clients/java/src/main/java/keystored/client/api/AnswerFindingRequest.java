// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

/** A document of the API. */
public record AnswerFindingRequest() {
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
    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public AnswerFindingRequest build() {
      return new AnswerFindingRequest();
    }
  }
}
