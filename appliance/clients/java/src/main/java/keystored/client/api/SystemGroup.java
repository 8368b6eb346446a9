// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import java.io.InputStream;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class SystemGroup {
  private static final Operation ACCEPT_CLOCK =
      new Operation("POST", "/v1/state/system/accept-clock", "");
  private static final Operation APPLIANCE_DOWNLOAD_CA_CERTIFICATES =
      new Operation("GET", "/v1/ca/system/appliance/ca.pem", "application/x-pem-file", Operation.Trait.IDEMPOTENT, Operation.Trait.PUBLIC);
  private static final Operation BACKUP =
      new Operation("POST", "/v1/state/system/backup", "application/octet-stream");
  private static final Operation CHANGE_PIN =
      new Operation("POST", "/v1/state/system/change-pin", "");
  private static final Operation END_CREDENTIALS =
      new Operation("POST", "/v1/state/system/end-credentials", "application/json");
  private static final Operation OPERATE =
      new Operation("POST", "/v1/state/system/operate", "");
  private static final Operation PULL_BACKUP =
      new Operation("POST", "/v1/state/system/pull-backup", "application/octet-stream");
  private static final Operation ROTATE_ATTESTATION_KEY =
      new Operation("POST", "/v1/state/system/rotate-attestation-key", "application/json");
  private static final Operation ROTATE_WRAPPING_KEY =
      new Operation("POST", "/v1/state/system/rotate-wrapping-key", "application/json");
  private static final Operation RUN_BACKUP =
      new Operation("POST", "/v1/state/system/run-backup", "");
  private static final Operation SEAL =
      new Operation("POST", "/v1/state/keystore/system/seal", "");
  private static final Operation TEST_HSM =
      new Operation("POST", "/v1/state/system/test-hsm", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation UNSEAL =
      new Operation("POST", "/v1/state/keystore/system/unseal", "", Operation.Trait.PUBLIC);

  private final Sender sender;

  SystemGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Accept the clock.
   *
   * <p>For a clock that was set back on purpose, or was wrongly in the future before: held work goes on.
   *
   * <p>POST /v1/state/system/accept-clock
   */
  public void acceptClock() {
    sender.nothing(ACCEPT_CLOCK, new Parts());
  }

  /**
   * The CA certificates of this appliance, for callers that know only its address.
   *
   * <p>A caller that does not trust them yet compares the fingerprint with one from another source.
   *
   * <p>GET /v1/ca/system/appliance/ca.pem
   *
   * @return the answer
   */
  public String applianceDownloadCaCertificates() {
    return sender.text(APPLIANCE_DOWNLOAD_CA_CERTIFICATES, new Parts());
  }

  /**
   * Take an encrypted backup of the whole appliance.
   *
   * <p>The answer is an age file around a tar archive, encrypted under the passphrase or to the recipients. It
   * is complete only if it has the length that content-length says. Keep what opens it apart from it: nothing
   * else does.
   *
   * <p>POST /v1/state/system/backup
   *
   * @param body what is sent
   * @return the answer
   */
  public InputStream backup(SystemBackupRequest body) {
    return sender.stream(BACKUP, new Parts().body(body));
  }

  /**
   * Replace the user PIN of a token by a new random one.
   *
   * <p>For a token whose PIN the appliance chose itself and keeps in its own file, as that of the embedded
   * token: nobody sees the new one. Processes that run stay logged in.
   *
   * <p>POST /v1/state/system/change-pin
   *
   * @param body what is sent
   */
  public void changePin(ChangePinRequest body) {
    sender.nothing(CHANGE_PIN, new Parts().body(body));
  }

  /**
   * End all tokens and secret-ids that were made before the restore, and what such secret-ids gave since.
   *
   * <p>Those of all tenants, with what descends from them: some of them had ended or were used up after the
   * backup, and nobody knows which. So do the tokens of logins since with such a secret-id. The token of this
   * request goes on, and what else was made since. A tenant whose root token ends may be given one once more
   * with `token/create-root`.
   *
   * <p>POST /v1/state/system/end-credentials
   *
   * @return the answer
   */
  public SystemEndCredentialsAnswer endCredentials() {
    return sender.json(END_CREDENTIALS, new Parts(), SystemEndCredentialsAnswer.class);
  }

  /**
   * Reboot, power off or reset the appliance.
   *
   * <p>A factory reset destroys every key of the embedded token, the store and the audit trail; keys in an HSM
   * of your own stay there.
   *
   * <p>POST /v1/state/system/operate
   *
   * @param body what is sent
   */
  public void operate(SystemOperateRequest body) {
    sender.nothing(OPERATE, new Parts().body(body));
  }

  /**
   * Take a backup to the recipients of the configuration.
   *
   * <p>As backup, for a caller that may fetch backups and open none: the recipients are those of the
   * configuration, and it cannot choose others. A policy that allows execute on this path alone is enough.
   *
   * <p>POST /v1/state/system/pull-backup
   *
   * @return the answer
   */
  public InputStream pullBackup() {
    return sender.stream(PULL_BACKUP, new Parts());
  }

  /**
   * Replace the key that signs custody statements.
   *
   * <p>Another key is made in the token and the present one destroyed there, so that nothing is signed under it
   * any more. Its public key stays published.
   *
   * <p>POST /v1/state/system/rotate-attestation-key
   *
   * @return the answer
   */
  public RotateAttestationKeyAnswer rotateAttestationKey() {
    return sender.json(ROTATE_ATTESTATION_KEY, new Parts(), RotateAttestationKeyAnswer.class);
  }

  /**
   * Rotate the key that wraps all others.
   *
   * <p>New keys are wrapped under the new one at once. Every stored key is rewrapped in the background, inside
   * the token; the old wrapping key is destroyed when nothing needs it. Progress is in the answer of `GET
   * /v1/state/system/hsm`.
   *
   * <p>POST /v1/state/system/rotate-wrapping-key
   *
   * @param body what is sent
   * @return the answer
   */
  public RotateWrappingKeyAnswer rotateWrappingKey(RotateWrappingKeyRequest body) {
    return sender.json(ROTATE_WRAPPING_KEY, new Parts().body(body), RotateWrappingKeyAnswer.class);
  }

  /**
   * Begin a backup to the targets of the configuration now.
   *
   * <p>Answered when it has begun; backup-status tells how far it is and how it went.
   *
   * <p>POST /v1/state/system/run-backup
   */
  public void runBackup() {
    sender.nothing(RUN_BACKUP, new Parts());
  }

  /**
   * Seal the appliance until a person gives the PIN.
   *
   * <p>No new use of a key begins, running ones end, and the keys are removed from the memory of every process.
   * Then the request is answered, as the last one on its connection. A sealed appliance answers only health, its
   * CA certificates and unseal.
   *
   * <p>POST /v1/state/keystore/system/seal
   */
  public void seal() {
    sender.nothing(SEAL, new Parts());
  }

  /**
   * Test every token, and look at its objects.
   *
   * <p>A quick test of what the service needs always; `keystorectl hsm test` tries every operation. The
   * attributes are read from the token, not from the store.
   *
   * <p>POST /v1/state/system/test-hsm
   *
   * @return the answer
   */
  public TestHsmAnswer testHsm() {
    return sender.json(TEST_HSM, new Parts(), TestHsmAnswer.class);
  }

  /**
   * Give the PIN of the tokens to a sealed appliance.
   *
   * <p>A PIN is looked at from those who give the unseal code of this seal, or are at the machine itself as root
   * or the user of the service. It is tried once. After a refused one the next attempt has to wait; after three
   * the daemon must be started again, because tokens lock themselves.
   *
   * <p>POST /v1/state/keystore/system/unseal
   *
   * @param body what is sent
   */
  public void unseal(SystemUnsealRequest body) {
    sender.nothing(UNSEAL, new Parts().body(body));
  }
}
