// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class CaGroup {
  private static final Operation CREATE =
      new Operation("POST", "/v1/config/keystore/tls/ca", "application/json");
  private static final Operation CSR =
      new Operation("POST", "/v1/state/keystore/tls/ca/{}/csr", "application/json");
  private static final Operation DELETE =
      new Operation("DELETE", "/v1/config/keystore/tls/ca/{}", "", Operation.Trait.IDEMPOTENT);
  private static final Operation IMPORT_CERT =
      new Operation("POST", "/v1/state/keystore/tls/ca/{}/import-cert", "");
  private static final Operation LIST =
      new Operation("GET", "/v1/state/keystore/tls/ca", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST_CONFIG =
      new Operation("GET", "/v1/config/keystore/tls/ca", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation MERGE =
      new Operation("PATCH", "/v1/config/keystore/tls/ca/{}", "");
  private static final Operation RENEW =
      new Operation("POST", "/v1/state/keystore/tls/ca/{}/renew", "application/json");
  private static final Operation REPLACE =
      new Operation("PUT", "/v1/config/keystore/tls/ca/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation REVOKE =
      new Operation("POST", "/v1/state/keystore/tls/ca/{}/revoke", "");
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/tls/ca/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW_CONFIG =
      new Operation("GET", "/v1/config/keystore/tls/ca/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SIGN_CSR =
      new Operation("POST", "/v1/state/keystore/tls/ca/{}/sign-csr", "application/json");

  private final Sender sender;

  CaGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Create a TLS CA.
   *
   * <p>POST /v1/config/keystore/tls/ca
   *
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public Tlsca create(TlscaCreation body, CaCreateOptions options) {
    return sender.json(CREATE, options.addTo(new Parts().body(body)), Tlsca.class);
  }

  /**
   * Create a TLS CA.
   *
   * <p>POST /v1/config/keystore/tls/ca
   *
   * @param body what is sent
   * @return the answer
   */
  public Tlsca create(TlscaCreation body) {
    return create(body, CaCreateOptions.builder().build());
  }

  /**
   * A certification request for the CA's key, to be signed by a root outside.
   *
   * <p>POST /v1/state/keystore/tls/ca/&#123;name}/csr
   *
   * @param name Name of the TLS CA.
   * @return the answer
   */
  public CaCsrAnswer csr(String name) {
    return sender.json(CSR, new Parts(name), CaCsrAnswer.class);
  }

  /**
   * Delete a TLS CA.
   *
   * <p>DELETE /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @param options the optional parameters
   */
  public void delete(String name, CaDeleteOptions options) {
    sender.nothing(DELETE, options.addTo(new Parts(name)));
  }

  /**
   * Delete a TLS CA.
   *
   * <p>DELETE /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   */
  public void delete(String name) {
    delete(name, CaDeleteOptions.builder().build());
  }

  /**
   * Take in the CA's certificate signed outside, with its issuers up to the root.
   *
   * <p>POST /v1/state/keystore/tls/ca/&#123;name}/import-cert
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   */
  public void importCert(String name, CaImportCertRequest body) {
    sender.nothing(IMPORT_CERT, new Parts(name).body(body));
  }

  /**
   * List the state of every TLS CA.
   *
   * <p>GET /v1/state/keystore/tls/ca
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<TlscaState> list(CaListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), TlscaState.class);
  }

  /**
   * List the state of every TLS CA.
   *
   * <p>GET /v1/state/keystore/tls/ca
   *
   * @return the answer
   */
  public Page<TlscaState> list() {
    return list(CaListOptions.builder().build());
  }

  /**
   * List the state of every TLS CA. It follows the pages and reads them one by one.
   *
   * <p>GET /v1/state/keystore/tls/ca
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<TlscaState> listEach(CaListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * List every TLS CA.
   *
   * <p>GET /v1/config/keystore/tls/ca
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<Tlsca> listConfig(CaListConfigOptions options) {
    return sender.page(LIST_CONFIG, options.addTo(new Parts()), Tlsca.class);
  }

  /**
   * List every TLS CA.
   *
   * <p>GET /v1/config/keystore/tls/ca
   *
   * @return the answer
   */
  public Page<Tlsca> listConfig() {
    return listConfig(CaListConfigOptions.builder().build());
  }

  /**
   * List every TLS CA. It follows the pages and reads them one by one.
   *
   * <p>GET /v1/config/keystore/tls/ca
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<Tlsca> listConfigEach(CaListConfigOptions options) {
    return Page.walk(after -> listConfig(after == null ? options : options.startingAfter(after)));
  }

  /**
   * Merge into a TLS CA.
   *
   * <p>PATCH /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   * @param options the optional parameters
   */
  public void merge(String name, TlscaMerge body, CaMergeOptions options) {
    sender.nothing(MERGE, options.addTo(new Parts(name).body(body)));
  }

  /**
   * Merge into a TLS CA.
   *
   * <p>PATCH /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   */
  public void merge(String name, TlscaMerge body) {
    merge(name, body, CaMergeOptions.builder().build());
  }

  /**
   * Give the CA a new key and certificate; a root also gets roll-over certificates.
   *
   * <p>POST /v1/state/keystore/tls/ca/&#123;name}/renew
   *
   * @param name Name of the TLS CA.
   * @return the answer
   */
  public CaRenewAnswer renew(String name) {
    return sender.json(RENEW, new Parts(name), CaRenewAnswer.class);
  }

  /**
   * Create or replace a TLS CA.
   *
   * <p>PUT /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public Tlsca replace(String name, TlscaReplacement body, CaReplaceOptions options) {
    return sender.json(REPLACE, options.addTo(new Parts(name).body(body)), Tlsca.class);
  }

  /**
   * Create or replace a TLS CA.
   *
   * <p>PUT /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   * @return the answer
   */
  public Tlsca replace(String name, TlscaReplacement body) {
    return replace(name, body, CaReplaceOptions.builder().build());
  }

  /**
   * Revoke a certificate this CA issued.
   *
   * <p>POST /v1/state/keystore/tls/ca/&#123;name}/revoke
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   */
  public void revoke(String name, CaRevokeRequest body) {
    sender.nothing(REVOKE, new Parts(name).body(body));
  }

  /**
   * Read the state of a TLS CA.
   *
   * <p>GET /v1/state/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @return the answer
   */
  public TlscaState show(String name) {
    return sender.json(SHOW, new Parts(name), TlscaState.class);
  }

  /**
   * Read a TLS CA.
   *
   * <p>GET /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @return the answer
   */
  public Tlsca showConfig(String name) {
    return sender.json(SHOW_CONFIG, new Parts(name), Tlsca.class);
  }

  /**
   * Issue a certificate for a certification request.
   *
   * <p>POST /v1/state/keystore/tls/ca/&#123;name}/sign-csr
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   * @return the answer
   */
  public CaSignCsrAnswer signCsr(String name, CaSignCsrRequest body) {
    return sender.json(SIGN_CSR, new Parts(name).body(body), CaSignCsrAnswer.class);
  }
}
