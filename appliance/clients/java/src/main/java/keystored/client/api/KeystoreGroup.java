// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class KeystoreGroup {
  private static final Operation IMPORT_OPENPGP =
      new Operation("POST", "/v1/state/keystore/import-openpgp", "application/json");

  private final Sender sender;

  KeystoreGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Make a transit key from an OpenPGP public key block.
   *
   * <p>The new key verifies signatures (openpgp-verify by any signing key of the certificate, verify by the one
   * in keys). It never signs. Private keys go through import, as PEM.
   *
   * <p>POST /v1/state/keystore/import-openpgp
   *
   * @param body what is sent
   * @return the answer
   */
  public ImportOpenpgpAnswer importOpenpgp(ImportOpenpgpRequest body) {
    return sender.json(IMPORT_OPENPGP, new Parts().body(body), ImportOpenpgpAnswer.class);
  }
}
