// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class TlsCAsGroup {
  private static final Operation GET_V1_CA_TENANT_CA_CA_PEM =
      new Operation("GET", "/v1/ca/{}/{}/ca.pem", "application/x-pem-file", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation GET_V1_CA_TENANT_CA_CRL =
      new Operation("GET", "/v1/ca/{}/{}/crl", "application/pkix-crl", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation GET_V1_CA_TENANT_CA_CRL_VERSION =
      new Operation("GET", "/v1/ca/{}/{}/crl/{}", "application/pkix-crl", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation GET_V1_CA_TENANT_CA_OCSP_REQUEST =
      new Operation("GET", "/v1/ca/{}/{}/ocsp/{}", "application/ocsp-response", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation POST_V1_CA_TENANT_CA_OCSP =
      new Operation("POST", "/v1/ca/{}/{}/ocsp", "application/ocsp-response", Operation.Trait.PUBLIC);

  private final Sender sender;

  TlsCAsGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * The certificate of a CA, and its issuers up to the root.
   *
   * <p>GET /v1/ca/&#123;tenant}/&#123;ca}/ca.pem
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @return the answer
   */
  public String getV1CaTenantCaCaPem(String tenant, String ca) {
    return sender.text(GET_V1_CA_TENANT_CA_CA_PEM, new Parts(tenant, ca));
  }

  /**
   * The revocation list of the newest key of a CA, DER.
   *
   * <p>GET /v1/ca/&#123;tenant}/&#123;ca}/crl
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @return the answer
   */
  public byte[] getV1CaTenantCaCrl(String tenant, String ca) {
    return sender.octets(GET_V1_CA_TENANT_CA_CRL, new Parts(tenant, ca));
  }

  /**
   * The revocation list of one key of a CA, DER: what its certificates point to.
   *
   * <p>GET /v1/ca/&#123;tenant}/&#123;ca}/crl/&#123;version}
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @param version Which key of the CA.
   * @return the answer
   */
  public byte[] getV1CaTenantCaCrlVersion(String tenant, String ca, String version) {
    return sender.octets(GET_V1_CA_TENANT_CA_CRL_VERSION, new Parts(tenant, ca, version));
  }

  /**
   * The same with the request in the path, base64 (RFC 6960 appendix A.1).
   *
   * <p>GET /v1/ca/&#123;tenant}/&#123;ca}/ocsp/&#123;request}
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @param request The OCSP request in base64, percent-encoded.
   * @return the answer
   */
  public byte[] getV1CaTenantCaOcspRequest(String tenant, String ca, String request) {
    return sender.octets(GET_V1_CA_TENANT_CA_OCSP_REQUEST, new Parts(tenant, ca, request));
  }

  /**
   * The status of a certificate (RFC 6960, RFC 5019).
   *
   * <p>POST /v1/ca/&#123;tenant}/&#123;ca}/ocsp
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @param body what is sent
   * @return the answer
   */
  public byte[] postV1CaTenantCaOcsp(String tenant, String ca, byte[] body) {
    return sender.octets(POST_V1_CA_TENANT_CA_OCSP, new Parts(tenant, ca).octets("application/ocsp-request", body));
  }
}
