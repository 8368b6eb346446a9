// Periodic work: certificates that no device has confirmed are revoked (RFC 9810 section 5.2.8), and transactions end.
import { randomUUID } from 'node:crypto';
import { hasCredential } from '../../core/audit/record.ts';
import { ServiceError } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { writeInPieces } from '../../core/store/records/pieces.ts';
import { getIfOpen, type StoreKey, Unreadable } from '../../core/store/store.ts';
import type { CmpContext } from './context.ts';
import type { CmpTransaction } from './records/records.ts';
import { openOf, putTransaction } from './records/transactions.ts';

/** Most transactions of a kind that one run ends. */
const stepRecords = 1_000;

/** Seconds after the end in which a confirmation that came in time may still be on its way to the store. */
const graceSeconds = 60;

/** Revokes what was not confirmed in time, or not fetched after a person has approved it. Idempotent: a revocation comes before its record. */
export async function revokeUnconfirmed(context: CmpContext, signal: AbortSignal): Promise<void> {
  const { store, tables, clock, authorities } = context;
  store.refresh();
  const over = formatTimestamp(clock.now().subtract({ seconds: graceSeconds }));
  const ended = Array.from(
    Iterator.from(tables.open.entries([]))
      .filter(([, open]) => (typeof open === 'string' ? open : open.until) < over)
      .take(stepRecords),
  );
  for (const [place, open] of ended) {
    if (signal.aborted) return;
    const record = tables.transactions.getFound(place);
    const isDamaged = record instanceof Unreadable;
    const known = typeof open === 'string' ? (isDamaged ? undefined : record) : open;
    // An earlier version wrote no serial number beside the record: health names it, and the others go on.
    if (known === undefined && isDamaged) continue;
    const [tenantId = '', caId = ''] = place.map(String);
    const ca = known === undefined ? undefined : authorities.find(tenantId, known.ca);
    const serial = known?.serial ?? (known === undefined || ca?.id !== caId ? undefined : approvedSerial(ca, known));
    if (serial !== undefined && ca?.id === caId && (await revoke(ca, serial))) await noteRevocation(context, ca, serial);
    await store.write((transaction) => {
      // Its certificate is revoked: nothing is left that the record could tell.
      const present = transaction.deleteUnreadable(tables.transactions, place) ? undefined : transaction.get(tables.transactions, place);
      if (present === undefined || !isOpen(present)) transaction.delete(tables.open, place);
      else putTransaction(context, transaction, place, { ...present, state: 'rejected' });
    });
  }
}

const isOpen = ({ state }: Pick<CmpTransaction, 'state'>): boolean => state === 'waiting' || state === 'unconfirmed';

type Authority = NonNullable<ReturnType<CmpContext['authorities']['find']>>;

/** The certificate that a person has approved and the device has not fetched. */
function approvedSerial(
  ca: Authority,
  { transaction, publicKey }: { readonly transaction: string; readonly publicKey: Uint8Array },
): string | undefined {
  const outcome = ca.findEnrolment({ protocol: 'cmp', transaction }, publicKey);
  return outcome?.status === 'issued' ? outcome.serial : undefined;
}

/** Returns false for a certificate that was revoked before, or whose record is gone. */
async function revoke(ca: Authority, serial: string): Promise<boolean> {
  try {
    return await ca.revoke(serial, 'unspecified');
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not-found') return false;
    throw error;
  }
}

async function noteRevocation({ audit, clock }: CmpContext, { tenantId, name }: Authority, serial: string): Promise<void> {
  await audit.write({
    ...{ kind: 'cmp', occurredAt: formatTimestamp(clock.now()), requestId: randomUUID(), tenantId },
    ...{ path: `/cmp/${tenantId}/${name}`, method: 'POST', status: 200, requestTimeMs: 0, clientIp: '', userAgent: '' },
    requestParameters: { operation: 'revoke-unconfirmed', ca: name, serial },
    // Not one of those that a flood keeps out of the trail.
    [hasCredential]: true,
  });
}

/**
 * Deletes transactions that are over, and those of CAs that are gone. One that is open and whose end is not on record, because that record does not open, gets it
 * again. Idempotent.
 */
export async function sweepTransactions({ store, tables, clock, authorities }: CmpContext, signal: AbortSignal): Promise<void> {
  store.refresh();
  const now = formatTimestamp(clock.now());
  const isOver = ([key, record]: readonly [StoreKey, CmpTransaction]): boolean =>
    (!isOpen(record) && record.until < now) || !authorities.exists(String(key[0]), String(key[1]));
  const isLost = ([key, record]: readonly [StoreKey, CmpTransaction]): boolean =>
    isOpen(record) && record.until < now && getIfOpen(tables.open, key) === undefined;
  const found = Array.from(
    Iterator.from(tables.transactions.entries([]))
      .filter((entry) => isOver(entry) || isLost(entry))
      .take(5 * stepRecords),
  );
  const [over, lost] = [found.filter(isOver), found.filter((entry) => !isOver(entry))];
  const keysOf = (entries: typeof found): StoreKey[] => entries.map(([key]) => key);
  await writeInPieces(
    store,
    keysOf(over),
    (transaction, key) => {
      transaction.delete(tables.transactions, key);
      transaction.delete(tables.open, key);
    },
    signal,
  );
  await writeInPieces(
    store,
    keysOf(lost),
    (transaction, key) => {
      const present = transaction.get(tables.transactions, key);
      if (present !== undefined && isOpen(present)) transaction.put(tables.open, key, openOf(present));
    },
    signal,
  );
}
