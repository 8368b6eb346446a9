// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class CaCertificatesGroup {
  private static final Operation LIST =
      new Operation("GET", "/v1/state/keystore/tls/ca/{}/certificates", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/tls/ca/{}/certificates/{}", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  CaCertificatesGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Certificates this CA issued, by serial number.
   *
   * <p>All that it issued, revoked and expired ones too, without the certificates themselves. At most 1,000 an
   * answer.
   *
   * <p>GET /v1/state/keystore/tls/ca/&#123;name}/certificates
   *
   * @param name Name of the TLS CA.
   * @param options the optional parameters
   * @return the answer
   */
  public Page<IssuedCertificate> list(String name, CaCertificatesListOptions options) {
    return sender.page(LIST, options.addTo(new Parts(name)), IssuedCertificate.class);
  }

  /**
   * Certificates this CA issued, by serial number.
   *
   * <p>All that it issued, revoked and expired ones too, without the certificates themselves. At most 1,000 an
   * answer.
   *
   * <p>GET /v1/state/keystore/tls/ca/&#123;name}/certificates
   *
   * @param name Name of the TLS CA.
   * @return the answer
   */
  public Page<IssuedCertificate> list(String name) {
    return list(name, CaCertificatesListOptions.builder().build());
  }

  /**
   * Certificates this CA issued, by serial number. It follows the pages and reads them one by one.
   *
   * <p>All that it issued, revoked and expired ones too, without the certificates themselves. At most 1,000 an
   * answer.
   *
   * <p>GET /v1/state/keystore/tls/ca/&#123;name}/certificates
   *
   * @param name Name of the TLS CA.
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<IssuedCertificate> listEach(String name, CaCertificatesListOptions options) {
    return Page.walk(after -> list(name, after == null ? options : options.startingAfter(after)));
  }

  /**
   * One certificate this CA issued.
   *
   * <p>With the certificate itself, which lists leave out.
   *
   * <p>GET /v1/state/keystore/tls/ca/&#123;name}/certificates/&#123;serial}
   *
   * @param name Name of the TLS CA.
   * @param serial Serial number, lower-case hexadecimal without separators.
   * @return the answer
   */
  public IssuedCertificate show(String name, String serial) {
    return sender.json(SHOW, new Parts(name, serial), IssuedCertificate.class);
  }
}
