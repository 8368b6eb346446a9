// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import keystored.client.Change;

/**
 * Rotates the key by itself; a merge cannot remove it, a replacement can.
 *
 * @param rotateAfter Interval after which the key is rotated, again and again. May be null: absent.
 * @param activateAfter Delay after a rotation before the new version encrypts. May be null: absent.
 * @param deprecateAfter Time after the creation of a newer version when the old one stops encrypting. May be
 * null: absent.
 * @param invalidateAfter Time after the creation of a newer version when the old one stops decrypting. May be
 * null: absent.
 */
public record TransitKeyAutoRotateMerge(
    @JsonProperty("rotate-after") String rotateAfter,
    @JsonProperty("activate-after") Change<String> activateAfter,
    @JsonProperty("deprecate-after") Change<String> deprecateAfter,
    @JsonProperty("invalidate-after") Change<String> invalidateAfter) {
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
    private String rotateAfter;
    private Change<String> activateAfter;
    private Change<String> deprecateAfter;
    private Change<String> invalidateAfter;

    private Builder() {}

    /**
     * Interval after which the key is rotated, again and again.
     *
     * @param value null: absent
     * @return this
     */
    public Builder rotateAfter(String value) {
      rotateAfter = value;
      return this;
    }

    /**
     * Delay after a rotation before the new version encrypts.
     *
     * @param value not null
     * @return this
     */
    public Builder activateAfter(String value) {
      activateAfter = Change.to(value);
      return this;
    }

    /**
     * Removes what activate-after is.
     *
     * @return this
     */
    public Builder removeActivateAfter() {
      activateAfter = Change.removal();
      return this;
    }

    /**
     * Time after the creation of a newer version when the old one stops encrypting.
     *
     * @param value not null
     * @return this
     */
    public Builder deprecateAfter(String value) {
      deprecateAfter = Change.to(value);
      return this;
    }

    /**
     * Removes what deprecate-after is.
     *
     * @return this
     */
    public Builder removeDeprecateAfter() {
      deprecateAfter = Change.removal();
      return this;
    }

    /**
     * Time after the creation of a newer version when the old one stops decrypting.
     *
     * @param value not null
     * @return this
     */
    public Builder invalidateAfter(String value) {
      invalidateAfter = Change.to(value);
      return this;
    }

    /**
     * Removes what invalidate-after is.
     *
     * @return this
     */
    public Builder removeInvalidateAfter() {
      invalidateAfter = Change.removal();
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeyAutoRotateMerge build() {
      return new TransitKeyAutoRotateMerge(
          rotateAfter,
          activateAfter,
          deprecateAfter,
          invalidateAfter);
    }
  }
}
