// Grants of CAs and certificates: they end the tokens of a CA that is deleted, and of a certificate that is revoked, in the transaction that does it.
import { randomInt } from 'node:crypto';
import { defined } from '../../core/base/defined.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { ClientAuthority, ShownCertificate } from '../../core/plugin/services/certificate-authority.ts';
import { writeInPieces } from '../../core/store/records/pieces.ts';
import type { StoreKey, WriteTransaction } from '../../core/store/store.ts';
import { type ClientCertificate, type Confirmation, readThumbprint } from '../../core/tls/client-certificate.ts';
import type { CertificateGrant, Logins } from './context.ts';
import { asks } from './responders.ts';
import type { RoleRecord } from './role-record.ts';

/** The grant of a CA, opened at its first login. */
export function grantOfCa({ caGrants, accounts }: Logins, transaction: WriteTransaction, tenantId: string, caId: string): string {
  const key = [tenantId, caId];
  const present = transaction.get(caGrants, key);
  if (present !== undefined) return present;
  const grant = accounts.openGrant(transaction, tenantId);
  transaction.put(caGrants, key, grant);
  return grant;
}

/**
 * The grant of a certificate or key, opened at its first login. `until`: end of the token that is about to name it. `shown`: for the lists that are fetched
 * later.
 */
export function grantOfCertificate(
  { certificateGrants, accounts }: Logins,
  transaction: WriteTransaction,
  [tenantId, caId, { kind, sha256 }]: readonly [tenantId: string, caId: string, of: Confirmation],
  { until, shown }: { readonly until: Temporal.Instant; readonly shown?: ShownCertificate | undefined },
): string {
  const key = [tenantId, caId, kind, sha256];
  const present = transaction.get(certificateGrants, key);
  const grant = present?.grant ?? accounts.openGrant(transaction, tenantId);
  const text = formatTimestamp(until);
  // Timestamps of this form sort chronologically.
  const isLonger = present === undefined || present.until < text;
  // A role that fetches nothing takes nothing from another one that does: the tokens of both have this grant.
  const kept = isLonger ? (shown ?? present?.shown) : (present.shown ?? shown);
  const others = othersOf(present, shown, kept);
  if (isLonger || present.shown !== kept || others.length !== (present.alsoShown ?? []).length) {
    const alsoShown = others.length === 0 ? undefined : others;
    transaction.put(certificateGrants, key, { grant, until: isLonger ? text : present.until, ...defined({ shown: kept, alsoShown }) });
  }
  return grant;
}

/** Further certificates of a key that are judged again: a renewal with the same key must not hide that the former one is revoked. */
const mostOthers = 8;

function othersOf(
  present: CertificateGrant | undefined,
  shown: ShownCertificate | undefined,
  kept: ShownCertificate | undefined,
): readonly ShownCertificate[] {
  const all = [...(present?.alsoShown ?? []), ...[present?.shown, shown].filter((one) => one !== undefined)];
  const isSame = (one: ShownCertificate, other: ShownCertificate | undefined): boolean =>
    other !== undefined && Buffer.compare(one.leaf, other.leaf) === 0;
  return all.filter((one, at) => !isSame(one, kept) && all.findIndex((other) => isSame(one, other)) === at).slice(-mostOthers);
}

/** Ends the tokens of a revoked certificate, and those that are bound to its key. */
export function endGrantsOfCertificate(
  logins: Logins,
  transaction: WriteTransaction,
  tenantId: string,
  caId: string,
  certificate: Uint8Array,
): void {
  for (const kind of ['certificate', 'key'] as const) {
    const sha256 = readThumbprint(kind, certificate);
    if (sha256 !== undefined) endCertificateGrant(logins, transaction, [tenantId, caId, kind, sha256]);
  }
}

/** Ends the tokens of all certificates of a CA. */
export function endGrantOfCa({ caGrants, accounts }: Logins, transaction: WriteTransaction, tenantId: string, caId: string): void {
  const grant = transaction.get(caGrants, [tenantId, caId]);
  if (grant === undefined) return;
  accounts.endGrant(transaction, tenantId, grant);
  transaction.delete(caGrants, [tenantId, caId]);
}

/** Ends the tokens of a certificate of a CA elsewhere that was found revoked when it logged in again. */
export async function endRevokedNow(logins: Logins, tenantId: string, caId: string, shown: ClientCertificate): Promise<void> {
  const keys = (['certificate', 'key'] as const).map((kind) => [tenantId, caId, kind, shown.thumbprint(kind) ?? '']);
  // The holder of one that is revoked makes no writes with it.
  if (!keys.some((key) => logins.certificateGrants.has(key))) return;
  await logins.store.write((transaction) => {
    for (const key of keys) endCertificateGrant(logins, transaction, key);
  });
}

/** Certificates of a role that are judged again at a time, and the time after which no more of them are: responders may hang. */
const atOnce = 8;
const longestMs = 120_000;

/**
 * Ends the tokens of certificates of a CA elsewhere that lists (DER), or responders of the role, revoke. Those that could not be judged within
 * `longestMs` are left for the next time, which begins anywhere among them.
 */
export async function endRevoked(
  logins: Logins,
  [tenantId, role]: readonly [tenantId: string, role: RoleRecord],
  authority: ClientAuthority,
  lists: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<void> {
  const { store, certificateGrants, responders } = logins;
  const isRevoked = async (shown: ShownCertificate): Promise<boolean> => {
    const answers = asks(role) ? await responders.ask(tenantId, role, authority.questions(shown)) : [];
    const judged = authority.judge(shown, lists, answers);
    return 'problem' in judged && judged.problem === 'revoked';
  };
  const held = Array.from(certificateGrants.entries([tenantId, authority.id])).flatMap(([key, { shown, alsoShown = [] }]) =>
    [...(shown === undefined ? [] : [shown]), ...alsoShown].map((one) => ({ key, shown: one })),
  );
  const from = held.length === 0 ? 0 : randomInt(held.length);
  const inOrder = [...held.slice(from), ...held.slice(0, from)];
  const over = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
  const ended: StoreKey[] = [];
  for (let first = 0; first < inOrder.length && !over.aborted; first += atOnce) {
    const some = inOrder.slice(first, first + atOnce);
    const verdicts = await Promise.all(some.map(({ shown }) => isRevoked(shown)));
    ended.push(...some.flatMap(({ key }, at) => (verdicts[at] === true ? [key] : [])));
  }
  await writeInPieces(store, ended, (transaction, key) => endCertificateGrant(logins, transaction, key), signal);
}

/** Drops the grants that no token names any longer. */
export async function dropExpired(logins: Logins, signal: AbortSignal): Promise<void> {
  const { store, clock, certificateGrants } = logins;
  store.refresh();
  const present = formatTimestamp(clock.now());
  const over = Array.from(certificateGrants.entries([])).flatMap(([key, { until }]) => (until < present ? [key] : []));
  await writeInPieces(
    store,
    over,
    (transaction, key) => {
      // A login may have made it longer meanwhile.
      const kept = transaction.get(certificateGrants, key);
      if (kept !== undefined && kept.until < present) endCertificateGrant(logins, transaction, key);
    },
    signal,
  );
}

function endCertificateGrant({ certificateGrants, accounts }: Logins, transaction: WriteTransaction, key: StoreKey): void {
  const kept = transaction.get(certificateGrants, key);
  if (kept === undefined) return;
  accounts.endGrant(transaction, String(key[0]), kept.grant);
  transaction.delete(certificateGrants, key);
}
