// Validation of a challenge: started by the request for it, finished after the answer, repeated when its process has ended meanwhile.
import { subscriberOf } from '../../../core/base/addresses.ts';
import { fail } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { describeFault } from '../../../core/http/response/problem.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { type Acme, placeOf, type Site } from '../context.ts';
import type { Problem } from '../errors.ts';
import { baseOf, isWildcard, nameOf } from '../message/identifiers.ts';
import { limits, livesInHours } from '../limits.ts';
import { closeOrder } from '../records/orders.ts';
import type { Authorization, ChallengeAttempt, Identifier, Order } from '../records/records.ts';
import { proveByDns } from '../validation/dns-01.ts';
import { proveByHttp } from '../validation/http-01.ts';
import { problemOfFailure } from '../validation/refusal.ts';
import { proveByTls } from '../validation/tls-alpn-01.ts';
import type { Proof } from '../validation/proof.ts';
import type { Ways } from '../validation/ways.ts';

/** The table of challenges: the types of identifiers that each proves (RFC 8738 section 7), and how. */
const challenges: ReadonlyMap<string, { readonly proves: readonly string[]; run(ways: Ways, proof: Proof): Promise<void> }> = new Map([
  ['http-01', { proves: ['dns', 'ip'], run: proveByHttp }],
  ['dns-01', { proves: ['dns'], run: proveByDns }],
  ['tls-alpn-01', { proves: ['dns', 'ip'], run: proveByTls }],
]);

/** Tells whether a challenge proves a name; of a wildcard the name service alone knows whose it is (RFC 8555 section 7.1.3). */
export function isProvedBy(identifier: Identifier, type: string): boolean {
  return isWildcard(identifier) ? type === 'dns-01' : challenges.get(type)?.proves.includes(identifier.type) === true;
}

const attemptMs = 10_000;

/** Age at which an attempt is begun again by a question for it: its process has ended. */
const lostMs = 3 * attemptMs;

/** A challenge of an order. `index`: of its authorization. */
export type Target = {
  readonly site: Site;
  readonly account: string;
  readonly thumbprint: string;
  readonly order: string;
  readonly index: number;
  readonly clientIp: string;
  /** of the account */
  readonly isProven: boolean;
};

/** Tells whether an attempt has no process that works at it. */
export function isLost({ clock }: Acme, { status, startedAt }: ChallengeAttempt): boolean {
  return status === 'processing' && clock.now().epochMilliseconds - Temporal.Instant.from(startedAt).epochMilliseconds > lostMs;
}

/** A validation that counts while it runs. Ending it twice is ending it once. */
export type Turn = { end(): void };

/** Takes a turn for a challenge, which counts from then on. Undefined if this process works at it already. Throws `rate-limited`. */
export function takeTurn({ validating }: Acme, { site: { ca }, account, isProven, clientIp, ...rest }: Target): Turn | undefined {
  const name = nameOfRun({ account, ...rest });
  if (validating.has(name)) return undefined;
  const { tenantId } = ca;
  const subscriber = subscriberOf(clientIp);
  const { ofAll, ofTenant, ofAccount, ofSubscriber, ofUnproven, ofUnprovenOfTenant } = limits.validations;
  const all = [...validating.values()];
  const ofThis = all.filter((one) => one.tenantId === tenantId);
  const unproven = all.filter((one) => !one.isProven);
  const own = all.filter((one) => one.subscriber === subscriber).length;
  // Each of those that run here may fail.
  ca.requireFewFailures(clientIp, all.filter((one) => one.subscriber === subscriber && one.caId === ca.id).length);
  const isFull =
    all.length >= ofAll ||
    ofThis.length >= ofTenant ||
    own >= ofSubscriber ||
    all.filter((one) => one.account === account).length >= ofAccount ||
    (!isProven && (unproven.length >= ofUnproven || unproven.filter((one) => one.tenantId === tenantId).length >= ofUnprovenOfTenant));
  if (isFull) throw fail('rate-limited', { detail: 'Too many names are being proved at the same time: try again.', retryAfterSeconds: 5 });
  validating.set(name, { tenantId, caId: ca.id, account, subscriber, isProven });
  return { end: () => void validating.delete(name) };
}

/** Works at a challenge that is processing, in the background, until the turn ends. */
export function beginValidation(
  acme: Acme,
  target: Target,
  { attempt, token }: Authorization,
  { identifier, turn }: { readonly identifier: Identifier; readonly turn: Turn },
): void {
  if (attempt?.status !== 'processing') return turn.end();
  const proof = {
    identifier: baseOf(identifier),
    token,
    keyAuthorization: `${token}.${target.thumbprint}`,
    signal: AbortSignal.timeout(attemptMs),
  };
  const run = async (): Promise<void> => {
    const problem = await prove(acme, attempt.type, proof);
    // The client knows of the end when it counts, and no longer counts as one that may come.
    if (problem !== undefined) await target.site.ca.countFailure(target.clientIp).catch(() => undefined);
    turn.end();
    await acme.store.write((transaction) => conclude(acme, transaction, target, attempt, problem));
  };
  run()
    .catch((error: unknown) => acme.log.warn('a proof of a name could not be recorded', describeFault(error)))
    .finally(() => turn.end());
}

const nameOfRun = ({ account, order, index }: Pick<Target, 'account' | 'order' | 'index'>): string => `${account} ${order} ${index}`;

/** The reason for which a name is not proved; undefined if it is. */
async function prove({ ways }: Acme, type: string, proof: Proof): Promise<Problem | undefined> {
  try {
    await challenges.get(type)?.run(ways, proof);
    return undefined;
  } catch (error) {
    return proof.signal.aborted ? { type: 'connection', detail: 'The host did not answer within 10 seconds.' } : problemOfFailure(error);
  }
}

/** Records the outcome of an attempt, unless another has been begun. */
function conclude(
  acme: Acme,
  transaction: WriteTransaction,
  { site, account, order: id, index }: Target,
  attempt: ChallengeAttempt,
  error: Problem | undefined,
): void {
  const place = placeOf(site, account, id);
  const order = transaction.get(acme.tables.orders, place);
  const authorization = order?.authorizations[index];
  const identifier = order?.identifiers[index];
  if (order === undefined || authorization === undefined || identifier === undefined) return;
  const current = authorization.attempt;
  if (authorization.status !== 'pending' || current?.status !== 'processing' || current.startedAt !== attempt.startedAt) return;
  const status = error === undefined ? 'valid' : 'invalid';
  const decided: Authorization = { ...authorization, status, attempt: { ...attempt, status, ...(error === undefined ? {} : { error }) } };
  const changed: Order = { ...order, authorizations: order.authorizations.with(index, decided) };
  if (error !== undefined) {
    if (order.status === 'pending') closeOrder(acme, transaction, place, changed, { status: 'invalid', error });
    return;
  }
  const until = formatTimestamp(acme.clock.now().add({ hours: livesInHours.proof }));
  transaction.put(acme.tables.proofs, placeOf(site, account, nameOf(identifier)), until);
  const isReady = order.status === 'pending' && changed.authorizations.every((one) => one.status === 'valid');
  transaction.put(acme.tables.orders, place, isReady ? { ...changed, status: 'ready' } : changed);
}
