// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * A document of the API.
 *
 * @param questions The requests in question.
 */
public record PolicyCheckManyRequest(
    @JsonProperty("questions") List<PolicyQuestionInput> questions) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param questions The requests in question.
   * @return a builder
   */
  public static Builder builder(List<PolicyQuestionInput> questions) {
    Builder builder = new Builder();
    builder.questions = questions;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private List<PolicyQuestionInput> questions;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public PolicyCheckManyRequest build() {
      return new PolicyCheckManyRequest(
          questions);
    }
  }
}
