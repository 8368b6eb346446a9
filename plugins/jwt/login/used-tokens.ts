// Tokens that have logged in and may not again: kept until they are expired anyway.
import { hash } from 'node:crypto';
import { formatTimestamp } from '../../../core/base/time.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import type { Store, StoreKey, Table, WriteTransaction } from '../../../core/store/store.ts';
import type { LocatedIssuer } from '../keys/issuer-keys.ts';
import { issuerRulesOf } from '../records/rules.ts';
import type { ParsedToken } from '../token/compact.ts';
import { TokenRefused } from '../token/refusal.ts';
import type { SignedToken } from './target.ts';

/** Beyond the clock tolerance, for a clock that is set back a little. */
const marginSeconds = 300;

/**
 * Uses a token up, in the transaction that issues another for it. Returns false if it was used before. Two tokens of one key and `jti` are the same,
 * whichever issuer of the tenant has the key; without one, header and claims tell, because there are two right signatures of ECDSA for one text.
 */
export function useOnce(
  transaction: WriteTransaction,
  table: Table<string>,
  located: LocatedIssuer,
  token: ParsedToken,
  judged: SignedToken,
  now: Temporal.Instant,
): boolean {
  const key = keyOf(located, token, judged);
  if (transaction.get(table, key) !== undefined) return false;
  const untilMs = Math.ceil((judged.expiresSeconds + issuerRulesOf(located.record).toleranceSeconds + marginSeconds) * 1_000);
  const latestMs = Math.max(untilMs, now.epochMilliseconds);
  transaction.put(table, key, formatTimestamp(Temporal.Instant.fromEpochMilliseconds(latestMs)));
  return true;
}

/** Tells whether a token was used, as far as this process knows now. */
export function wasUsed(table: Table<string>, located: LocatedIssuer, token: ParsedToken, judged: SignedToken): boolean {
  return table.get(keyOf(located, token, judged)) !== undefined;
}

/** Refuses a token that was used. */
export function refuseUsed(): TokenRefused {
  return new TokenRefused(
    'use',
    'used-before',
    'The token has logged in before, and the role takes each once: ask the platform for a new one for every login, or set "use" of the role to many ' +
      'where the platform hands out the same one again.',
  );
}

function keyOf({ tenantId, record }: LocatedIssuer, { signed }: ParsedToken, { jti, signedBy }: SignedToken): StoreKey {
  const what = jti === undefined ? hash('sha256', signed, 'hex') : ['jti', jti];
  return [tenantId, hash('sha256', JSON.stringify([record.issuer, signedBy, what]), 'hex')];
}

/** Drops those that are expired. */
export async function dropExpired(store: Store, table: Table<string>, now: Temporal.Instant, signal: AbortSignal): Promise<void> {
  // Timestamps of this form sort chronologically.
  const present = formatTimestamp(now);
  const over = Array.from(table.entries([])).flatMap(([key, until]) => (until < present ? [key] : []));
  await writeInPieces(store, over, (transaction, key) => void transaction.delete(table, key), signal);
}
