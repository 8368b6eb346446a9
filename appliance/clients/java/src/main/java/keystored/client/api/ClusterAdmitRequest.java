// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A document of the API.
 *
 * @param secret The secret of the invitation.
 * @param appliance Identity of the new appliance.
 * @param name Its name, which no other appliance of the cluster has.
 * @param address IP address of its member of etcd.
 * @param peerRequest DER PKCS#10 request for the certificate among the members of etcd.
 * @param clientRequest DER PKCS#10 request for the certificate for the shared store.
 */
public record ClusterAdmitRequest(
    @JsonProperty("secret") String secret,
    @JsonProperty("appliance") String appliance,
    @JsonProperty("name") String name,
    @JsonProperty("address") String address,
    @JsonProperty("peer-request") String peerRequest,
    @JsonProperty("client-request") String clientRequest) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param secret The secret of the invitation.
   * @param appliance Identity of the new appliance.
   * @param name Its name, which no other appliance of the cluster has.
   * @param address IP address of its member of etcd.
   * @param peerRequest DER PKCS#10 request for the certificate among the members of etcd.
   * @param clientRequest DER PKCS#10 request for the certificate for the shared store.
   * @return a builder
   */
  public static Builder builder(String secret, String appliance, String name, String address, String peerRequest, String clientRequest) {
    Builder builder = new Builder();
    builder.secret = secret;
    builder.appliance = appliance;
    builder.name = name;
    builder.address = address;
    builder.peerRequest = peerRequest;
    builder.clientRequest = clientRequest;
    return builder;
  }

  /** Hides the document: it holds secrets. */
  @Override
  public String toString() {
    return "ClusterAdmitRequest[…]";
  }

  /** Makes the document. */
  public static final class Builder {
    private String secret;
    private String appliance;
    private String name;
    private String address;
    private String peerRequest;
    private String clientRequest;

    private Builder() {}

    /**
     * Makes the document.
     *
     * @return the document
     */
    public ClusterAdmitRequest build() {
      return new ClusterAdmitRequest(
          secret,
          appliance,
          name,
          address,
          peerRequest,
          clientRequest);
    }
  }
}
