// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class TransitKeysGroup {
  private static final Operation BACKUP =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/backup", "application/json");
  private static final Operation CREATE =
      new Operation("POST", "/v1/config/keystore/transit-keys", "application/json");
  private static final Operation DECRYPT =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/decrypt", "application/json");
  private static final Operation DELETE =
      new Operation("DELETE", "/v1/config/keystore/transit-keys/{}", "", Operation.Trait.IDEMPOTENT);
  private static final Operation ENCRYPT =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/encrypt", "application/json");
  private static final Operation EXPORT =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/export", "application/json");
  private static final Operation EXPORT_OPENPGP_PUBLIC =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/export-openpgp-public", "application/json");
  private static final Operation EXPORT_OPENPGP_REVOCATION =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/export-openpgp-revocation", "application/json");
  private static final Operation GENERATE_DATA_KEY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/generate-data-key", "application/json");
  private static final Operation HMAC =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/hmac", "application/json");
  private static final Operation IMPORT =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/import", "");
  private static final Operation LIST =
      new Operation("GET", "/v1/state/keystore/transit-keys", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST_CONFIG =
      new Operation("GET", "/v1/config/keystore/transit-keys", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation MERGE =
      new Operation("PATCH", "/v1/config/keystore/transit-keys/{}", "");
  private static final Operation OPENPGP_SIGN =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/openpgp-sign", "application/json");
  private static final Operation OPENPGP_VERIFY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/openpgp-verify", "application/json");
  private static final Operation REPLACE =
      new Operation("PUT", "/v1/config/keystore/transit-keys/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation RESTORE =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/restore", "");
  private static final Operation REWRAP =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/rewrap", "application/json");
  private static final Operation ROTATE =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/rotate", "");
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/transit-keys/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW_CONFIG =
      new Operation("GET", "/v1/config/keystore/transit-keys/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SIGN =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/sign", "application/json");
  private static final Operation TRIM =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/trim", "");
  private static final Operation VERIFY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/verify", "application/json");

  private final Sender sender;

  TransitKeysGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Back up a key in clear.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/backup
   *
   * @param name Name of the transit key.
   * @return the answer
   */
  public TransitKeysBackupAnswer backup(String name) {
    return sender.json(BACKUP, new Parts(name), TransitKeysBackupAnswer.class);
  }

  /**
   * Create a transit key.
   *
   * <p>POST /v1/config/keystore/transit-keys
   *
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public TransitKey create(TransitKeyCreation body, TransitKeysCreateOptions options) {
    return sender.json(CREATE, options.addTo(new Parts().body(body)), TransitKey.class);
  }

  /**
   * Create a transit key.
   *
   * <p>POST /v1/config/keystore/transit-keys
   *
   * @param body what is sent
   * @return the answer
   */
  public TransitKey create(TransitKeyCreation body) {
    return create(body, TransitKeysCreateOptions.builder().build());
  }

  /**
   * Decrypt a ciphertext.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/decrypt
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysDecryptAnswer decrypt(String name, TransitKeysDecryptRequest body) {
    return sender.json(DECRYPT, new Parts(name).body(body), TransitKeysDecryptAnswer.class);
  }

  /**
   * Delete a transit key.
   *
   * <p>DELETE /v1/config/keystore/transit-keys/&#123;name}
   *
   * @param name Name of the transit key.
   * @param options the optional parameters
   */
  public void delete(String name, TransitKeysDeleteOptions options) {
    sender.nothing(DELETE, options.addTo(new Parts(name)));
  }

  /**
   * Delete a transit key.
   *
   * <p>DELETE /v1/config/keystore/transit-keys/&#123;name}
   *
   * @param name Name of the transit key.
   */
  public void delete(String name) {
    delete(name, TransitKeysDeleteOptions.builder().build());
  }

  /**
   * Encrypt a plaintext of up to 2 MiB.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/encrypt
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysEncryptAnswer encrypt(String name, TransitKeysEncryptRequest body) {
    return sender.json(ENCRYPT, new Parts(name).body(body), TransitKeysEncryptAnswer.class);
  }

  /**
   * Export key material.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/export
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysExportAnswer export(String name, TransitKeysExportRequest body) {
    return sender.json(EXPORT, new Parts(name).body(body), TransitKeysExportAnswer.class);
  }

  /**
   * Export the OpenPGP public key block.
   *
   * <p>Of a primary key its certificate; of a subkey the certificate of its primary with the subkey in it. With
   * version all and subkeys one block that verifies everything the primary key and its subkeys have signed.
   * Needs no exportable.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/export-openpgp-public
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysExportOpenpgpPublicAnswer exportOpenpgpPublic(String name, TransitKeysExportOpenpgpPublicRequest body) {
    return sender.json(EXPORT_OPENPGP_PUBLIC, new Parts(name).body(body), TransitKeysExportOpenpgpPublicAnswer.class);
  }

  /**
   * Make an OpenPGP revocation certificate.
   *
   * <p>Publishing it revokes the key for everybody; the key itself goes on working here. Of a subkey, its block
   * with the revocation in it. With the reasons superseded and retired earlier signatures stay good.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/export-openpgp-revocation
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysExportOpenpgpRevocationAnswer exportOpenpgpRevocation(String name, TransitKeysExportOpenpgpRevocationRequest body) {
    return sender.json(EXPORT_OPENPGP_REVOCATION, new Parts(name).body(body), TransitKeysExportOpenpgpRevocationAnswer.class);
  }

  /**
   * Make a data key.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/generate-data-key
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysGenerateDataKeyAnswer generateDataKey(String name, TransitKeysGenerateDataKeyRequest body) {
    return sender.json(GENERATE_DATA_KEY, new Parts(name).body(body), TransitKeysGenerateDataKeyAnswer.class);
  }

  /**
   * Calculate an HMAC; check it with verify.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/hmac
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysHmacAnswer hmac(String name, TransitKeysHmacRequest body) {
    return sender.json(HMAC, new Parts(name).body(body), TransitKeysHmacAnswer.class);
  }

  /**
   * Import key material as a new version.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/import
   *
   * @param name Name of the transit key.
   * @param body what is sent
   */
  public void import_(String name, TransitKeysImportRequest body) {
    sender.nothing(IMPORT, new Parts(name).body(body));
  }

  /**
   * List the state of every transit key.
   *
   * <p>GET /v1/state/keystore/transit-keys
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<TransitKeyState> list(TransitKeysListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), TransitKeyState.class);
  }

  /**
   * List the state of every transit key.
   *
   * <p>GET /v1/state/keystore/transit-keys
   *
   * @return the answer
   */
  public Page<TransitKeyState> list() {
    return list(TransitKeysListOptions.builder().build());
  }

  /**
   * List the state of every transit key. It follows the pages and reads them one by one.
   *
   * <p>GET /v1/state/keystore/transit-keys
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<TransitKeyState> listEach(TransitKeysListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * List every transit key.
   *
   * <p>GET /v1/config/keystore/transit-keys
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<TransitKey> listConfig(TransitKeysListConfigOptions options) {
    return sender.page(LIST_CONFIG, options.addTo(new Parts()), TransitKey.class);
  }

  /**
   * List every transit key.
   *
   * <p>GET /v1/config/keystore/transit-keys
   *
   * @return the answer
   */
  public Page<TransitKey> listConfig() {
    return listConfig(TransitKeysListConfigOptions.builder().build());
  }

  /**
   * List every transit key. It follows the pages and reads them one by one.
   *
   * <p>GET /v1/config/keystore/transit-keys
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<TransitKey> listConfigEach(TransitKeysListConfigOptions options) {
    return Page.walk(after -> listConfig(after == null ? options : options.startingAfter(after)));
  }

  /**
   * Merge into a transit key.
   *
   * <p>PATCH /v1/config/keystore/transit-keys/&#123;name}
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @param options the optional parameters
   */
  public void merge(String name, TransitKeyMerge body, TransitKeysMergeOptions options) {
    sender.nothing(MERGE, options.addTo(new Parts(name).body(body)));
  }

  /**
   * Merge into a transit key.
   *
   * <p>PATCH /v1/config/keystore/transit-keys/&#123;name}
   *
   * @param name Name of the transit key.
   * @param body what is sent
   */
  public void merge(String name, TransitKeyMerge body) {
    merge(name, body, TransitKeysMergeOptions.builder().build());
  }

  /**
   * Sign data with an OpenPGP key.
   *
   * <p>Makes a detached OpenPGP signature that gpg, sq and package managers verify with the block of
   * export-openpgp-public. The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256
   * of the text.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/openpgp-sign
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysOpenpgpSignAnswer openpgpSign(String name, TransitKeysOpenpgpSignRequest body) {
    return sender.json(OPENPGP_SIGN, new Parts(name).body(body), TransitKeysOpenpgpSignAnswer.class);
  }

  /**
   * Verify a detached OpenPGP signature.
   *
   * <p>The version is found by the fingerprint in the signature. Of several signatures one good one suffices.
   * Well-formed but not good is valid: false; unreadable is an error.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/openpgp-verify
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysOpenpgpVerifyAnswer openpgpVerify(String name, TransitKeysOpenpgpVerifyRequest body) {
    return sender.json(OPENPGP_VERIFY, new Parts(name).body(body), TransitKeysOpenpgpVerifyAnswer.class);
  }

  /**
   * Create or replace a transit key.
   *
   * <p>PUT /v1/config/keystore/transit-keys/&#123;name}
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public TransitKey replace(String name, TransitKeyReplacement body, TransitKeysReplaceOptions options) {
    return sender.json(REPLACE, options.addTo(new Parts(name).body(body)), TransitKey.class);
  }

  /**
   * Create or replace a transit key.
   *
   * <p>PUT /v1/config/keystore/transit-keys/&#123;name}
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKey replace(String name, TransitKeyReplacement body) {
    return replace(name, body, TransitKeysReplaceOptions.builder().build());
  }

  /**
   * Restore a key from a backup.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/restore
   *
   * @param name Name of the transit key.
   * @param body what is sent
   */
  public void restore(String name, TransitKeysRestoreRequest body) {
    sender.nothing(RESTORE, new Parts(name).body(body));
  }

  /**
   * Encrypt a ciphertext again under the newest version.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/rewrap
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysRewrapAnswer rewrap(String name, TransitKeysRewrapRequest body) {
    return sender.json(REWRAP, new Parts(name).body(body), TransitKeysRewrapAnswer.class);
  }

  /**
   * Make a new version.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/rotate
   *
   * @param name Name of the transit key.
   */
  public void rotate(String name) {
    sender.nothing(ROTATE, new Parts(name));
  }

  /**
   * Read the state of a transit key.
   *
   * <p>GET /v1/state/keystore/transit-keys/&#123;name}
   *
   * @param name Name of the transit key.
   * @return the answer
   */
  public TransitKeyState show(String name) {
    return sender.json(SHOW, new Parts(name), TransitKeyState.class);
  }

  /**
   * Read a transit key.
   *
   * <p>GET /v1/config/keystore/transit-keys/&#123;name}
   *
   * @param name Name of the transit key.
   * @return the answer
   */
  public TransitKey showConfig(String name) {
    return sender.json(SHOW_CONFIG, new Parts(name), TransitKey.class);
  }

  /**
   * Sign a text.
   *
   * <p>The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256 of the text, or with
   * `prehashed` the algorithm and the hash that was given; of a batch a list, one for each item.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/sign
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysSignAnswer sign(String name, TransitKeysSignRequest body) {
    return sender.json(SIGN, new Parts(name).body(body), TransitKeysSignAnswer.class);
  }

  /**
   * Remove old versions.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/trim
   *
   * @param name Name of the transit key.
   * @param body what is sent
   */
  public void trim(String name, TransitKeysTrimRequest body) {
    sender.nothing(TRIM, new Parts(name).body(body));
  }

  /**
   * Verify a signature or an HMAC.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/verify
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysVerifyAnswer verify(String name, TransitKeysVerifyRequest body) {
    return sender.json(VERIFY, new Parts(name).body(body), TransitKeysVerifyAnswer.class);
  }
}
