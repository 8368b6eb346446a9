// Background work: keys are fetched again before they are old, and what has expired is dropped.
import type { Job } from '../../core/base/context.ts';
import { writeInPieces } from '../../core/store/records/pieces.ts';
import { hasRoles, type Jwt } from './context.ts';
import { isOld } from './diagnose/explain.ts';
import { unknownKeySeconds } from './keys/key-record.ts';
import type { LocatedIssuer } from './keys/issuer-keys.ts';
import { dropExpired } from './login/used-tokens.ts';

/** Issuers that are asked at the same time: one that does not answer must not keep the others waiting. */
const atOnce = 8;

export function jobsOf(jwt: Jwt): readonly Job[] {
  return [
    { name: 'jwt: fetch keys again', everySeconds: 60, run: (signal) => refreshKeys(jwt, signal) },
    { name: 'jwt: drop what has expired', everySeconds: 60, run: (signal) => dropOld(jwt, signal) },
  ];
}

async function refreshKeys(jwt: Jwt, signal: AbortSignal): Promise<void> {
  jwt.store.refresh();
  const due = Array.from(jwt.issuers.entries([])).flatMap(([[tenantId], record]) => {
    const located: LocatedIssuer = { tenantId: String(tenantId), tenantName: '', issuer: record.name, record };
    return hasRoles(jwt, located) && jwt.issuerKeys.isDue(located) ? [located] : [];
  });
  const next = due.values();
  const work = async (): Promise<void> => {
    for (const located of next) {
      if (signal.aborted) return;
      await jwt.issuerKeys.refresh(located, unknownKeySeconds);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function dropOld(jwt: Jwt, signal: AbortSignal): Promise<void> {
  const { store, clock, used, failures, setAside } = jwt;
  store.refresh();
  const now = clock.now();
  await dropExpired(store, used, now, signal);
  const over = Array.from(failures.entries([])).flatMap(([key, failed]) => (isOld(failed, now) ? [key] : []));
  await writeInPieces(store, over, (transaction, key) => void transaction.delete(failures, key), signal);
  const ended = Array.from(setAside.entries([])).flatMap(([key, { untilMs }]) => (now.epochMilliseconds >= untilMs ? [key] : []));
  await writeInPieces(store, ended, (transaction, key) => void transaction.delete(setAside, key), signal);
}
