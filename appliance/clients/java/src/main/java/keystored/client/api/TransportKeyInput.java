// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What the token of the new appliance says of itself.
 *
 * @param id CKA_ID of the transport key.
 * @param publicKey RSA public key of 3072 bits, DER SubjectPublicKeyInfo in base64.
 * @param hashes Hashes that the token takes for RSA-OAEP, the best first.
 * @param types Key types that the token has.
 * @param present The wrapping keys that the token has.
 */
public record TransportKeyInput(
    @JsonProperty("id") String id,
    @JsonProperty("public-key") String publicKey,
    @JsonProperty("hashes") List<OaepHash> hashes,
    @JsonProperty("types") List<String> types,
    @JsonProperty("present") List<OwnKeyInput> present) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param id CKA_ID of the transport key.
   * @param publicKey RSA public key of 3072 bits, DER SubjectPublicKeyInfo in base64.
   * @param hashes Hashes that the token takes for RSA-OAEP, the best first.
   * @param types Key types that the token has.
   * @param present The wrapping keys that the token has.
   * @return a builder
   */
  public static Builder builder(String id, String publicKey, List<OaepHash> hashes, List<String> types, List<OwnKeyInput> present) {
    Builder builder = new Builder();
    builder.id = id;
    builder.publicKey = publicKey;
    builder.hashes = hashes;
    builder.types = types;
    builder.present = present;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String id;
    private String publicKey;
    private List<OaepHash> hashes;
    private List<String> types;
    private List<OwnKeyInput> present;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransportKeyInput build() {
      return new TransportKeyInput(
          id,
          publicKey,
          hashes,
          types,
          present);
    }
  }
}
