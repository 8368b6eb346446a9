// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param secret The secret of the invitation.
 * @param appliance Identity of the new appliance.
 * @param name Its name, which no other appliance of the cluster has.
 * @param peerRequest DER PKCS#10 request with the key of the one of `admit`. Its challengePassword is the
 * SHA-256, hexadecimal, of the JSON list of `keystored-admit-token-1`, the secret, the identity and the public
 * key of the transport key: nobody else puts another one in its place.
 * @param transport What the token of the new appliance says of itself.
 */
public record ClusterAdmitTokenRequest(
    @JsonProperty("secret") String secret,
    @JsonProperty("appliance") String appliance,
    @JsonProperty("name") String name,
    @JsonProperty("peer-request") String peerRequest,
    @JsonProperty("transport") TransportKeyInput transport) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param secret The secret of the invitation.
   * @param appliance Identity of the new appliance.
   * @param name Its name, which no other appliance of the cluster has.
   * @param peerRequest DER PKCS#10 request with the key of the one of `admit`. Its challengePassword is the
   * SHA-256, hexadecimal, of the JSON list of `keystored-admit-token-1`, the secret, the identity and the public
   * key of the transport key: nobody else puts another one in its place.
   * @param transport What the token of the new appliance says of itself.
   * @return a builder
   */
  public static Builder builder(String secret, String appliance, String name, String peerRequest, TransportKeyInput transport) {
    Builder builder = new Builder();
    builder.secret = secret;
    builder.appliance = appliance;
    builder.name = name;
    builder.peerRequest = peerRequest;
    builder.transport = transport;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ClusterAdmitTokenRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String secret;
    private String appliance;
    private String name;
    private String peerRequest;
    private TransportKeyInput transport;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ClusterAdmitTokenRequest build() {
      return new ClusterAdmitTokenRequest(
          secret,
          appliance,
          name,
          peerRequest,
          transport);
    }
  }
}
