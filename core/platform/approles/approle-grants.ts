// Grants of approles that an appliance of an earlier version has made, narrowed or deleted: it looked at the approle at each use of a token, and neither opened
// nor ended a grant. For stores and backups of such versions, and clusters that are being updated.
import type { Job } from '../../base/context.ts';
import { writeInPieces } from '../../store/records/pieces.ts';
import { type Store, Unreadable } from '../../store/store.ts';
import { approleTable } from '../../access/approles/approles.ts';
import { endGrant, hasEnded, reopenGrant } from '../../access/logins/grants.ts';
import { tokenTable } from '../../access/tokens/record.ts';

/** Opens those that are missing. Called at each start, before any token is judged. */
export async function openApproleGrants(store: Store): Promise<void> {
  store.refresh();
  const without = Array.from(approleTable(store).entries([])).filter(([[tenantId], { grantId }]) =>
    hasEnded(store, String(tenantId), grantId),
  );
  await writeInPieces(store, without, (transaction, [key]) => {
    const present = transaction.get(approleTable(store), key);
    if (present !== undefined) reopenGrant(transaction, store, String(key[0]), present.grantId);
  });
}

/** The job that opens them, and ends those of approles that have another one now or are gone. */
export function approleGrantsJob(store: Store): Job {
  return {
    name: 'approle-grants',
    everySeconds: 600,
    async run(signal) {
      await openApproleGrants(store);
      const former = Array.from(tokenTable(store).entriesFound([])).flatMap(([, record]) => {
        if (record instanceof Unreadable || record.approle === undefined) return [];
        const { tenantId, approle } = record;
        const present = approleTable(store).getFound([tenantId, approle.name]);
        const isFormer = !(present instanceof Unreadable) && present?.grantId !== approle.grantId;
        return isFormer && !hasEnded(store, tenantId, approle.grantId) ? [{ tenantId, ...approle }] : [];
      });
      await writeInPieces(
        store,
        former,
        (transaction, { tenantId, name, grantId }) => {
          if (transaction.get(approleTable(store), [tenantId, name])?.grantId !== grantId) endGrant(transaction, store, tenantId, grantId);
        },
        signal,
      );
    },
  };
}
