// Periodic work: certificates that no device has confirmed are revoked (RFC 9810 section 5.2.8), and transactions end.
import { randomUUID } from 'node:crypto';
import { hasCredential } from '../../core/audit/record.ts';
import { ServiceError } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { writeInPieces } from '../../core/store/records/pieces.ts';
import { type StoreKey, Unreadable } from '../../core/store/store.ts';
import type { CmpContext } from './context.ts';
import { putTransaction } from './records/transactions.ts';

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
      .filter(([, until]) => until < over)
      .take(stepRecords),
    ([key]) => key,
  );
  for (const place of ended) {
    if (signal.aborted) return;
    const record = tables.transactions.getFound(place);
    // Its serial number is lost with it: health names it, and the others go on.
    if (record instanceof Unreadable) continue;
    const [tenantId = '', caId = ''] = place.map(String);
    const ca = record === undefined ? undefined : authorities.find(tenantId, record.ca);
    const serial = record?.serial ?? (record === undefined || ca?.id !== caId ? undefined : approvedSerial(ca, record));
    if (serial !== undefined && ca?.id === caId && (await revoke(ca, serial))) await noteRevocation(context, ca, serial);
    await store.write((transaction) => {
      const present = transaction.get(tables.transactions, place);
      if (present === undefined || (present.state !== 'waiting' && present.state !== 'unconfirmed')) transaction.delete(tables.open, place);
      else putTransaction(context, transaction, place, { ...present, state: 'rejected' });
    });
  }
}

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

/** Deletes transactions that are over, and those of CAs that are gone. Idempotent. */
export async function sweepTransactions({ store, tables, clock, authorities }: CmpContext, signal: AbortSignal): Promise<void> {
  store.refresh();
  const now = formatTimestamp(clock.now());
  const isOver = ([key, { state, until }]: readonly [StoreKey, { readonly state: string; readonly until: string }]): boolean =>
    (state !== 'waiting' && state !== 'unconfirmed' && until < now) || !authorities.exists(String(key[0]), String(key[1]));
  const over = Array.from(
    Iterator.from(tables.transactions.entries([]))
      .filter(isOver)
      .take(5 * stepRecords),
    ([key]) => key,
  );
  await writeInPieces(
    store,
    over,
    (transaction, key) => {
      transaction.delete(tables.transactions, key);
      transaction.delete(tables.open, key);
    },
    signal,
  );
}
