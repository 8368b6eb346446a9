// Changes of transactions, inside the transactions of the store that they belong to, and the nonces of their answers.
import { createHmac } from 'node:crypto';
import { equalConstantTime } from '../../../core/base/bytes.ts';
import { defined } from '../../../core/base/defined.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import type { DrawnAhead } from '../../../core/base/async/drawn-ahead.ts';
import type { Clock } from '../../../core/base/context.ts';
import { type CmpTables, type CmpTransaction, livesInHours, type OpenTransaction } from './records.ts';

/** Puts a transaction with the end that its state has. */
export function putTransaction(
  { tables, clock }: { readonly tables: CmpTables; readonly clock: Clock },
  transaction: WriteTransaction,
  place: StoreKey,
  record: Omit<CmpTransaction, 'until'>,
): void {
  const isOpen = record.state === 'waiting' || record.state === 'unconfirmed';
  const hours = isOpen ? livesInHours[record.state] : livesInHours.over;
  const until = formatTimestamp(clock.now().add({ hours }));
  transaction.put(tables.transactions, place, { ...record, until });
  if (isOpen) transaction.put(tables.open, place, openOf({ ...record, until }));
  else transaction.delete(tables.open, place);
}

export function openOf({ until, ca, transaction, publicKey, serial }: CmpTransaction): OpenTransaction {
  return { ...{ until, ca, transaction, publicKey }, ...defined({ serial }) };
}

const [drawnOctets, macOctets] = [6, 10];

/**
 * A nonce for an answer of the transaction: the key recognises it, so that nothing is written for answers that only tell a device to wait, and every member of a
 * cluster takes it.
 */
export async function makeNonce({ nonces }: { readonly nonces: DrawnAhead }, nonceKey: Uint8Array): Promise<Uint8Array> {
  const drawn = (await nonces.next()).subarray(0, drawnOctets);
  return Buffer.concat([drawn, macOf(nonceKey, drawn)]);
}

export function isOwnNonce({ nonceKey }: Pick<CmpTransaction, 'nonceKey'>, nonce: Uint8Array | undefined): boolean {
  if (nonce === undefined || nonce.length !== drawnOctets + macOctets) return false;
  return equalConstantTime(macOf(nonceKey, nonce.subarray(0, drawnOctets)), nonce.subarray(drawnOctets));
}

function macOf(key: Uint8Array, drawn: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(drawn).digest().subarray(0, macOctets);
}
