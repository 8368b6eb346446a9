// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class TransitKeysGroup {
  private static final Operation BACKUP =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/backup", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation CREATE =
      new Operation("POST", "/v1/config/keystore/transit-keys", "application/json");
  private static final Operation CREATE_BATCH =
      new Operation("POST", "/v1/config/keystore/transit-keys-batch", "application/json", Operation.Trait.PARTIAL);
  private static final Operation DECRYPT =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/decrypt", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation DECRYPT_BATCH =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/decrypt-batch", "application/json", Operation.Trait.IDEMPOTENT, Operation.Trait.PARTIAL);
  private static final Operation DELETE =
      new Operation("DELETE", "/v1/config/keystore/transit-keys/{}", "", Operation.Trait.IDEMPOTENT);
  private static final Operation ENCRYPT =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/encrypt", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation ENCRYPT_BATCH =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/encrypt-batch", "application/json", Operation.Trait.IDEMPOTENT, Operation.Trait.PARTIAL);
  private static final Operation EXPORT =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/export", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation EXPORT_OPENPGP =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/export-openpgp", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation EXPORT_OPENPGP_PUBLIC =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/export-openpgp-public", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation EXPORT_OPENPGP_REVOCATION =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/export-openpgp-revocation", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation GENERATE_DATA_KEY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/generate-data-key", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation HMAC =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/hmac", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation HMAC_BATCH =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/hmac-batch", "application/json", Operation.Trait.IDEMPOTENT, Operation.Trait.PARTIAL);
  private static final Operation IMPORT =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/import", "");
  private static final Operation IMPORT_WRAPPING_KEY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/import-wrapping-key", "application/json");
  private static final Operation LIST =
      new Operation("GET", "/v1/state/keystore/transit-keys", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST_CONFIG =
      new Operation("GET", "/v1/config/keystore/transit-keys", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation MERGE =
      new Operation("PATCH", "/v1/config/keystore/transit-keys/{}", "");
  private static final Operation OPENPGP_SIGN =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/openpgp-sign", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation OPENPGP_VERIFY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/openpgp-verify", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation REPLACE =
      new Operation("PUT", "/v1/config/keystore/transit-keys/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation RESTORE =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/restore", "");
  private static final Operation REWRAP =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/rewrap", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation REWRAP_BATCH =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/rewrap-batch", "application/json", Operation.Trait.IDEMPOTENT, Operation.Trait.PARTIAL);
  private static final Operation ROTATE =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/rotate", "");
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/transit-keys/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW_CONFIG =
      new Operation("GET", "/v1/config/keystore/transit-keys/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SIGN =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/sign", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SIGN_BATCH =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/sign-batch", "application/json", Operation.Trait.IDEMPOTENT, Operation.Trait.PARTIAL);
  private static final Operation TRIM =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/trim", "", Operation.Trait.IDEMPOTENT);
  private static final Operation UNBIND_SUBKEY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/unbind-subkey", "application/json");
  private static final Operation VERIFY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/verify", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation VERIFY_BATCH =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/verify-batch", "application/json", Operation.Trait.IDEMPOTENT, Operation.Trait.PARTIAL);

  private final Sender sender;

  TransitKeysGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Back up a key in clear.
   *
   * <p>One text that restore takes, with all versions and their material in clear: keep it like the key. The key
   * must have `allow-plaintext-backup`, which cannot be set back.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/backup
   *
   * @param name Name of the transit key.
   * @return the answer
   */
  public BackupAnswer backup(String name) {
    return sender.json(BACKUP, new Parts(name), BackupAnswer.class);
  }

  /**
   * Create a transit key.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
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
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
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
   * Create many transit keys.
   *
   * <p>1 to 1,000 at once, each as if it were created alone, and each answered on its own, in order: with its
   * document, or with `code`. The status is 200 even when every one failed: `failed` says how many. When the
   * whole is answered with an error from 500 up, some may have been created: repeat the batch, and those answer
   * `already-exists`. With `validate=true` everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/transit-keys-batch
   *
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public TransitKeysCreateBatchAnswer createBatch(TransitKeysCreateBatchRequest body, TransitKeysCreateBatchOptions options) {
    return sender.json(CREATE_BATCH, options.addTo(new Parts().body(body)), TransitKeysCreateBatchAnswer.class);
  }

  /**
   * Create many transit keys.
   *
   * <p>1 to 1,000 at once, each as if it were created alone, and each answered on its own, in order: with its
   * document, or with `code`. The status is 200 even when every one failed: `failed` says how many. When the
   * whole is answered with an error from 500 up, some may have been created: repeat the batch, and those answer
   * `already-exists`. With `validate=true` everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/transit-keys-batch
   *
   * @param body what is sent
   * @return the answer
   */
  public TransitKeysCreateBatchAnswer createBatch(TransitKeysCreateBatchRequest body) {
    return createBatch(body, TransitKeysCreateBatchOptions.builder().build());
  }

  /**
   * Decrypt a ciphertext.
   *
   * <p>One answer for every reason why a ciphertext does not open: another key, another context, other
   * associated data, or a change of it.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/decrypt
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public DecryptAnswer decrypt(String name, DecryptRequest body) {
    return sender.json(DECRYPT, new Parts(name).body(body), DecryptAnswer.class);
  }

  /**
   * Decrypt a ciphertext: a batch.
   *
   * <p>The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies
   * that speak of `decrypt` decide about batches too. The status is 200 even when every request failed: `failed`
   * says how many.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/decrypt-batch
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public DecryptBatchAnswer decryptBatch(String name, DecryptBatchRequest body) {
    return sender.json(DECRYPT_BATCH, new Parts(name).body(body), DecryptBatchAnswer.class);
  }

  /**
   * Delete a transit key.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
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
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
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
   * <p>The ciphertext names the version of the key, and decrypt finds it by that. A derived key needs `context`.
   * A policy may allow encryption without decryption.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/encrypt
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public EncryptAnswer encrypt(String name, EncryptRequest body) {
    return sender.json(ENCRYPT, new Parts(name).body(body), EncryptAnswer.class);
  }

  /**
   * Encrypt a plaintext of up to 2 MiB: a batch.
   *
   * <p>The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies
   * that speak of `encrypt` decide about batches too. The status is 200 even when every request failed: `failed`
   * says how many.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/encrypt-batch
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public EncryptBatchAnswer encryptBatch(String name, EncryptBatchRequest body) {
    return sender.json(ENCRYPT_BATCH, new Parts(name).body(body), EncryptBatchAnswer.class);
  }

  /**
   * Export key material.
   *
   * <p>In clear, or wrapped under a public key of yours: AES key wrap with padding under RSA-OAEP. The key must
   * be `exportable`, which cannot be set back.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/export
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public ExportAnswer export(String name, ExportRequest body) {
    return sender.json(EXPORT, new Parts(name).body(body), ExportAnswer.class);
  }

  /**
   * Export key material as OpenPGP private key blocks.
   *
   * <p>As export does, under the same policies: a rule for `export` decides about this too. The key must be
   * `exportable`.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/export-openpgp
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public ExportOpenpgpAnswer exportOpenpgp(String name, ExportOpenpgpRequest body) {
    return sender.json(EXPORT_OPENPGP, new Parts(name).body(body), ExportOpenpgpAnswer.class);
  }

  /**
   * Export the OpenPGP public key block.
   *
   * <p>Of a primary key its certificate; of a subkey the certificate of its primary with the subkey in it. With
   * all-versions and subkeys one block that verifies everything the primary key and its subkeys have signed.
   * Needs no exportable.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/export-openpgp-public
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public ExportOpenpgpPublicAnswer exportOpenpgpPublic(String name, ExportOpenpgpPublicRequest body) {
    return sender.json(EXPORT_OPENPGP_PUBLIC, new Parts(name).body(body), ExportOpenpgpPublicAnswer.class);
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
  public ExportOpenpgpRevocationAnswer exportOpenpgpRevocation(String name, ExportOpenpgpRevocationRequest body) {
    return sender.json(EXPORT_OPENPGP_REVOCATION, new Parts(name).body(body), ExportOpenpgpRevocationAnswer.class);
  }

  /**
   * Make a data key.
   *
   * <p>For data that is encrypted outside: keep the ciphertext beside it, and let decrypt open it again. With
   * type `wrapped` the data key itself is not answered.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/generate-data-key
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public GenerateDataKeyAnswer generateDataKey(String name, GenerateDataKeyRequest body) {
    return sender.json(GENERATE_DATA_KEY, new Parts(name).body(body), GenerateDataKeyAnswer.class);
  }

  /**
   * Calculate an HMAC; check it with verify.
   *
   * <p>Under a secret of its own in each version, which every kind of key has. The text is not encrypted; verify
   * checks it.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/hmac
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public HmacAnswer hmac(String name, HmacRequest body) {
    return sender.json(HMAC, new Parts(name).body(body), HmacAnswer.class);
  }

  /**
   * Calculate an HMAC; check it with verify: a batch.
   *
   * <p>The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies
   * that speak of `hmac` decide about batches too. The status is 200 even when every request failed: `failed`
   * says how many.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/hmac-batch
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public HmacBatchAnswer hmacBatch(String name, HmacBatchRequest body) {
    return sender.json(HMAC_BATCH, new Parts(name).body(body), HmacBatchAnswer.class);
  }

  /**
   * Import key material as a new version.
   *
   * <p>Material in clear as `data`, or wrapped as `ciphertext`, under the key of the tenant or under one that
   * `import-wrapping-key` made for this import. Type and size must be those of the key.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/import
   *
   * @param name Name of the transit key.
   * @param body what is sent
   */
  public void import_(String name, ImportRequest body) {
    sender.nothing(IMPORT, new Parts(name).body(body));
  }

  /**
   * Make a wrapping key for one import into this key.
   *
   * <p>It opens one import into this transit key, named by `import-id`, and ends then or after `ttl`. Another
   * one takes its place. Wrap as RSA-OAEP (SHA-256, MGF1 with SHA-256) of a fresh AES key, followed by AES key
   * wrap with padding of the material.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/import-wrapping-key
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public ImportWrappingKeyOfOneAnswer importWrappingKey(String name, ImportWrappingKeyOfOneRequest body) {
    return sender.json(IMPORT_WRAPPING_KEY, new Parts(name).body(body), ImportWrappingKeyOfOneAnswer.class);
  }

  /**
   * List the state of every transit key.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
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
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
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
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
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
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
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
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
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
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
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
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
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
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
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
  public OpenpgpSignAnswer openpgpSign(String name, OpenpgpSignRequest body) {
    return sender.json(OPENPGP_SIGN, new Parts(name).body(body), OpenpgpSignAnswer.class);
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
  public OpenpgpVerifyAnswer openpgpVerify(String name, OpenpgpVerifyRequest body) {
    return sender.json(OPENPGP_VERIFY, new Parts(name).body(body), OpenpgpVerifyAnswer.class);
  }

  /**
   * Create or replace a transit key.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
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
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
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
   * <p>The key keeps its name and labels and takes everything else from the backup; of material that this tenant
   * has or had, the higher count of uses stays, and flags that were set once. Its versions are destroyed;
   * therefore it must still be unused, or have `deletion-allowed`. Policies judge the settings in the backup as
   * an `update` of the key, which must be allowed as well, and `execute` of `…/import`: the material is that of
   * who made the backup.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/restore
   *
   * @param name Name of the transit key.
   * @param body what is sent
   */
  public void restore(String name, RestoreRequest body) {
    sender.nothing(RESTORE, new Parts(name).body(body));
  }

  /**
   * Encrypt a ciphertext again under the newest version.
   *
   * <p>The plaintext stays in the appliance: a caller who may rewrap need not be allowed to decrypt. For data
   * that a rotation left under an old version.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/rewrap
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public RewrapAnswer rewrap(String name, RewrapRequest body) {
    return sender.json(REWRAP, new Parts(name).body(body), RewrapAnswer.class);
  }

  /**
   * Encrypt a ciphertext again under the newest version: a batch.
   *
   * <p>The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies
   * that speak of `rewrap` decide about batches too. The status is 200 even when every request failed: `failed`
   * says how many.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/rewrap-batch
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public RewrapBatchAnswer rewrapBatch(String name, RewrapBatchRequest body) {
    return sender.json(REWRAP_BATCH, new Parts(name).body(body), RewrapBatchAnswer.class);
  }

  /**
   * Make a new version.
   *
   * <p>The new version encrypts and signs at once, or after `activate-after` of auto-rotate. Older versions go
   * on decrypting and verifying until the rules of the key end them. The clock of auto-rotate starts again.
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
   * <p>What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
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
   * <p>What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
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
  public SignAnswer sign(String name, SignRequest body) {
    return sender.json(SIGN, new Parts(name).body(body), SignAnswer.class);
  }

  /**
   * Sign a text: a batch.
   *
   * <p>The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies
   * that speak of `sign` decide about batches too. The status is 200 even when every request failed: `failed`
   * says how many.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/sign-batch
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public SignBatchAnswer signBatch(String name, SignBatchRequest body) {
    return sender.json(SIGN_BATCH, new Parts(name).body(body), SignBatchAnswer.class);
  }

  /**
   * Remove old versions.
   *
   * <p>Destroys key material for good: what only these versions can decrypt is lost. Versions older than the
   * given one go; where they are gone already, nothing happens. While a newer version waits for
   * `activate-after`, the one that encrypts and signs is not removed.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/trim
   *
   * @param name Name of the transit key.
   * @param body what is sent
   */
  public void trim(String name, TrimRequest body) {
    sender.nothing(TRIM, new Parts(name).body(body));
  }

  /**
   * Unbind a subkey from its primary key.
   *
   * <p>The subkey becomes an ordinary transit key, which no longer keeps the primary key from being changed or
   * deleted; no right to that key is needed. What it signed still verifies with the blocks that are out in the
   * world: publish the revocations that are answered.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/unbind-subkey
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public UnbindSubkeyAnswer unbindSubkey(String name, UnbindSubkeyRequest body) {
    return sender.json(UNBIND_SUBKEY, new Parts(name).body(body), UnbindSubkeyAnswer.class);
  }

  /**
   * Verify a signature or an HMAC.
   *
   * <p>Takes what sign or hmac answered, and signatures made elsewhere with the same key. A wrong signature is
   * an answer, not an error: `valid` is false.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/verify
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public VerifyAnswer verify(String name, VerifyRequest body) {
    return sender.json(VERIFY, new Parts(name).body(body), VerifyAnswer.class);
  }

  /**
   * Verify a signature or an HMAC: a batch.
   *
   * <p>The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies
   * that speak of `verify` decide about batches too. The status is 200 even when every request failed: `failed`
   * says how many.
   *
   * <p>POST /v1/state/keystore/transit-keys/&#123;name}/verify-batch
   *
   * @param name Name of the transit key.
   * @param body what is sent
   * @return the answer
   */
  public VerifyBatchAnswer verifyBatch(String name, VerifyBatchRequest body) {
    return sender.json(VERIFY_BATCH, new Parts(name).body(body), VerifyBatchAnswer.class);
  }
}
