// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class CaGroup {
  private static final Operation ASK_OCSP =
      new Operation("POST", "/v1/ca/{}/{}/ocsp", "application/ocsp-response", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation ASK_OCSP_BY_PATH =
      new Operation("GET", "/v1/ca/{}/{}/ocsp/{}", "application/ocsp-response", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation CREATE =
      new Operation("POST", "/v1/config/keystore/tls/ca", "application/json");
  private static final Operation CSR =
      new Operation("POST", "/v1/state/keystore/tls/ca/{}/csr", "application/json");
  private static final Operation DELETE =
      new Operation("DELETE", "/v1/config/keystore/tls/ca/{}", "", Operation.Trait.IDEMPOTENT);
  private static final Operation DOWNLOAD_CERTIFICATES =
      new Operation("GET", "/v1/ca/{}/{}/ca.pem", "application/x-pem-file", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation DOWNLOAD_CRL =
      new Operation("GET", "/v1/ca/{}/{}/crl", "application/pkix-crl", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation DOWNLOAD_CRL_OF_VERSION =
      new Operation("GET", "/v1/ca/{}/{}/crl/{}", "application/pkix-crl", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation IMPORT_CERT =
      new Operation("POST", "/v1/state/keystore/tls/ca/{}/import-cert", "");
  private static final Operation IMPORT_REVOCATIONS =
      new Operation("POST", "/v1/state/keystore/tls/ca/{}/import-revocations", "application/json");
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
      new Operation("POST", "/v1/state/keystore/tls/ca/{}/revoke", "application/json");
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
   * The status of a certificate (RFC 6960, RFC 5019).
   *
   * <p>Needs no token. The answer is signed by the key that issued the certificate; answers are kept and shared
   * for some time.
   *
   * <p>POST /v1/ca/&#123;tenant}/&#123;ca}/ocsp
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @param body what is sent
   * @return the answer
   */
  public byte[] askOcsp(String tenant, String ca, byte[] body) {
    return sender.octets(ASK_OCSP, new Parts(tenant, ca).octets("application/ocsp-request", body));
  }

  /**
   * The same with the request in the path, base64 (RFC 6960 appendix A.1).
   *
   * <p>Needs no token. For clients and caches that ask by GET.
   *
   * <p>GET /v1/ca/&#123;tenant}/&#123;ca}/ocsp/&#123;request}
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @param request The OCSP request in base64, percent-encoded.
   * @return the answer
   */
  public byte[] askOcspByPath(String tenant, String ca, String request) {
    return sender.octets(ASK_OCSP_BY_PATH, new Parts(tenant, ca, request));
  }

  /**
   * Create a TLS CA.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/tls/ca
   *
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public TlsCa create(TlsCaCreation body, CaCreateOptions options) {
    return sender.json(CREATE, options.addTo(new Parts().body(body)), TlsCa.class);
  }

  /**
   * Create a TLS CA.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/tls/ca
   *
   * @param body what is sent
   * @return the answer
   */
  public TlsCa create(TlsCaCreation body) {
    return create(body, CaCreateOptions.builder().build());
  }

  /**
   * A certification request for the CA's key, to be signed by a root outside.
   *
   * <p>For a CA that a root elsewhere signs: a key is made in the token, and import-cert takes in the
   * certificate for it. The present certificate works until then.
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
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
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
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   */
  public void delete(String name) {
    delete(name, CaDeleteOptions.builder().build());
  }

  /**
   * The certificate of a CA, and its issuers up to the root.
   *
   * <p>Needs no token: relying parties and devices fetch it. In PEM, the certificate of the CA first.
   *
   * <p>GET /v1/ca/&#123;tenant}/&#123;ca}/ca.pem
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @return the answer
   */
  public String downloadCertificates(String tenant, String ca) {
    return sender.text(DOWNLOAD_CERTIFICATES, new Parts(tenant, ca));
  }

  /**
   * The revocation list of the newest key of a CA, DER.
   *
   * <p>Needs no token. Also of a deleted CA, until its last list ends.
   *
   * <p>GET /v1/ca/&#123;tenant}/&#123;ca}/crl
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @return the answer
   */
  public byte[] downloadCrl(String tenant, String ca) {
    return sender.octets(DOWNLOAD_CRL, new Parts(tenant, ca));
  }

  /**
   * The revocation list of one key of a CA, DER: what its certificates point to.
   *
   * <p>Needs no token. A CA that was renewed has a list for each of its keys.
   *
   * <p>GET /v1/ca/&#123;tenant}/&#123;ca}/crl/&#123;version}
   *
   * @param tenant UUID of the tenant.
   * @param ca Name of the TLS CA.
   * @param version Which key of the CA.
   * @return the answer
   */
  public byte[] downloadCrlOfVersion(String tenant, String ca, String version) {
    return sender.octets(DOWNLOAD_CRL_OF_VERSION, new Parts(tenant, ca, version));
  }

  /**
   * Take in the CA's certificate signed outside, with its issuers up to the root.
   *
   * <p>The certificate must be for the key of the last request and lead to the root that is given with it.
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
   * Revoke what a list of this CA that was kept says is revoked.
   *
   * <p>After a restore: the backup knows nothing of what was revoked after it was made. `crl` is a revocation
   * list that this CA published, as somebody kept it; its signature is verified, and dates and reasons are taken
   * from it. `serials` are serial numbers from elsewhere, and need `execute` of `…/revoke` as well. Certificates
   * that were issued after the backup are revoked too, although the CA does not know them.
   *
   * <p>POST /v1/state/keystore/tls/ca/&#123;name}/import-revocations
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   * @return the answer
   */
  public CaImportRevocationsAnswer importRevocations(String name, CaImportRevocationsRequest body) {
    return sender.json(IMPORT_REVOCATIONS, new Parts(name).body(body), CaImportRevocationsAnswer.class);
  }

  /**
   * List the state of every TLS CA.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/tls/ca
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<TlsCaState> list(CaListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), TlsCaState.class);
  }

  /**
   * List the state of every TLS CA.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/tls/ca
   *
   * @return the answer
   */
  public Page<TlsCaState> list() {
    return list(CaListOptions.builder().build());
  }

  /**
   * List the state of every TLS CA. It follows the pages and reads them one by one.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/tls/ca
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<TlsCaState> listEach(CaListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * List every TLS CA.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/tls/ca
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<TlsCa> listConfig(CaListConfigOptions options) {
    return sender.page(LIST_CONFIG, options.addTo(new Parts()), TlsCa.class);
  }

  /**
   * List every TLS CA.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/tls/ca
   *
   * @return the answer
   */
  public Page<TlsCa> listConfig() {
    return listConfig(CaListConfigOptions.builder().build());
  }

  /**
   * List every TLS CA. It follows the pages and reads them one by one.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/tls/ca
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<TlsCa> listConfigEach(CaListConfigOptions options) {
    return Page.walk(after -> listConfig(after == null ? options : options.startingAfter(after)));
  }

  /**
   * Merge into a TLS CA.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   * @param options the optional parameters
   */
  public void merge(String name, TlsCaMerge body, CaMergeOptions options) {
    sender.nothing(MERGE, options.addTo(new Parts(name).body(body)));
  }

  /**
   * Merge into a TLS CA.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   */
  public void merge(String name, TlsCaMerge body) {
    merge(name, body, CaMergeOptions.builder().build());
  }

  /**
   * Give the CA a new key and certificate; a root also gets roll-over certificates.
   *
   * <p>Devices get certificates of the new key from now on. Those of the old one stay good until they end, and
   * its revocation list goes on being made.
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
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public TlsCa replace(String name, TlsCaReplacement body, CaReplaceOptions options) {
    return sender.json(REPLACE, options.addTo(new Parts(name).body(body)), TlsCa.class);
  }

  /**
   * Create or replace a TLS CA.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   * @return the answer
   */
  public TlsCa replace(String name, TlsCaReplacement body) {
    return replace(name, body, CaReplaceOptions.builder().build());
  }

  /**
   * Revoke a certificate this CA issued.
   *
   * <p>For good. The next revocation list and OCSP say so at once; a device that shows the certificate is
   * refused. What a device renewed with it lives on: with `line`, all certificates end that renewals connect
   * with it, those before it, after it and beside it.
   *
   * <p>POST /v1/state/keystore/tls/ca/&#123;name}/revoke
   *
   * @param name Name of the TLS CA.
   * @param body what is sent
   * @return the answer
   */
  public CaRevokeAnswer revoke(String name, CaRevokeRequest body) {
    return sender.json(REVOKE, new Parts(name).body(body), CaRevokeAnswer.class);
  }

  /**
   * Read the state of a TLS CA.
   *
   * <p>What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/state/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @return the answer
   */
  public TlsCaState show(String name) {
    return sender.json(SHOW, new Parts(name), TlsCaState.class);
  }

  /**
   * Read a TLS CA.
   *
   * <p>What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/config/keystore/tls/ca/&#123;name}
   *
   * @param name Name of the TLS CA.
   * @return the answer
   */
  public TlsCa showConfig(String name) {
    return sender.json(SHOW_CONFIG, new Parts(name), TlsCa.class);
  }

  /**
   * Issue a certificate for a certification request.
   *
   * <p>The names in the request must be allowed by the rules of `est`, and `ttl` is at most that of `est`,
   * unless the policies allow `execute` of `…/sign-freely` as well. The certificate is made from the request,
   * never copied: extensions that it asks for beyond its names are left out.
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
