// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class BackupStatusGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/backup-status", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  BackupStatusGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * The backup that runs, with its progress, and how the scheduled ones went.
   *
   * <p>Times and sizes of the last backups to the targets of the configuration, and why the last one failed, if
   * it did.
   *
   * <p>GET /v1/state/system/backup-status
   *
   * @return the answer
   */
  public BackupsAnswer show() {
    return sender.json(SHOW, new Parts(), BackupsAnswer.class);
  }
}
