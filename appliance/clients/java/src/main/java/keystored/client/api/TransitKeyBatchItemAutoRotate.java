// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Rotates the key by itself; a merge cannot remove it, a replacement can.
 *
 * @param rotateAfter Interval after which the key is rotated, again and again.
 * @param activateAfter Delay after a rotation before the new version encrypts. May be null: absent.
 * @param deprecateAfter Time after the creation of a newer version when the old one stops encrypting. May be
 * null: absent.
 * @param invalidateAfter Time after the creation of a newer version when the old one stops decrypting. May be
 * null: absent.
 */
public record TransitKeyBatchItemAutoRotate(
    @JsonProperty("rotate-after") String rotateAfter,
    @JsonProperty("activate-after") String activateAfter,
    @JsonProperty("deprecate-after") String deprecateAfter,
    @JsonProperty("invalidate-after") String invalidateAfter) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param rotateAfter Interval after which the key is rotated, again and again.
   * @return a builder
   */
  public static Builder builder(String rotateAfter) {
    Builder builder = new Builder();
    builder.rotateAfter = rotateAfter;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String rotateAfter;
    private String activateAfter;
    private String deprecateAfter;
    private String invalidateAfter;

    private Builder() {}

    /**
     * Delay after a rotation before the new version encrypts.
     *
     * @param value null: absent
     * @return this
     */
    public Builder activateAfter(String value) {
      activateAfter = value;
      return this;
    }

    /**
     * Time after the creation of a newer version when the old one stops encrypting.
     *
     * @param value null: absent
     * @return this
     */
    public Builder deprecateAfter(String value) {
      deprecateAfter = value;
      return this;
    }

    /**
     * Time after the creation of a newer version when the old one stops decrypting.
     *
     * @param value null: absent
     * @return this
     */
    public Builder invalidateAfter(String value) {
      invalidateAfter = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeyBatchItemAutoRotate build() {
      return new TransitKeyBatchItemAutoRotate(
          rotateAfter,
          activateAfter,
          deprecateAfter,
          invalidateAfter);
    }
  }
}
