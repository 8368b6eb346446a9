// Finalize (RFC 8555 section 7.4): the request is checked and recorded, the certificate issued after the answer, and again if the process ends
// meanwhile. One order gets one certificate.
import { randomUUID } from 'node:crypto';
import { hasCredential } from '../../../core/audit/record.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { describeFault } from '../../../core/http/response/problem.ts';
import type { VerifiedRequest } from '../../../core/plugin/services/certificate-authority.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { type AccountCall, type Acme, type AcmeAnswer, notFound, placeOf, type Site } from '../context.ts';
import { failAcme, type Problem, problemOf } from '../errors.ts';
import { malformed } from '../message/malformed.ts';
import { nameOf, ofCommonName } from '../message/identifiers.ts';
import { decode, readPayload } from '../message/jws.ts';
import { closeOrder, proveAccount } from '../records/orders.ts';
import type { Order } from '../records/records.ts';
import { thumbprintOfDer } from '../message/signer.ts';
import { requireAllowedByCaa } from '../validation/caa.ts';
import { NotProved, problemOfFailure } from '../validation/refusal.ts';
import { inTime } from '../../../core/base/async/in-time.ts';
import { findProblemOf, requireValid } from './account.ts';
import { answerOrder, requireOrder } from './order.ts';
import { profiles } from './profiles.ts';

/** Age of a request from which another process may work at it. */
const lostMs = 20_000;

/** Time for the CAA records of all names of an order. */
const caaMs = 15_000;

export async function finalize(acme: Acme, call: AccountCall): Promise<AcmeAnswer> {
  const { id, order } = requireOrder(acme, call);
  const { csr: text } = readPayload(call.jws);
  if (typeof text !== 'string') throw malformed('"csr" is a PKCS#10 request in base64url.');
  const csr = decode(text, 'csr');
  const request = readRequest(call, csr);
  const names = requireNames(request, order);
  if (thumbprintOfDer(request.publicKey) === call.signer.thumbprint)
    throw failAcme('acme-bad-csr', 'The key of the certificate is that of the account: make another key.');
  call.note({ order: id, names, 'key-type': request.keyName });
  // Its names were proved, or an administrator has given them.
  if (order.status === 'ready') call.accept();
  const finalized = await acme.store.write((transaction) => take(acme, transaction, call, id, csr));
  beginIssue(acme, call, { account: call.account.id, id, order: finalized });
  return answerOrder(call, id, finalized);
}

/** Shows an order. One that is being issued, by a process that has ended, is issued by this one. */
export function readOrder(acme: Acme, call: AccountCall): AcmeAnswer {
  const { id, order } = requireOrder(acme, call);
  if (order.status === 'processing' && isLost(acme, order)) beginIssue(acme, call, { account: call.account.id, id, order });
  if (order.serial !== undefined) call.note({ serial: order.serial });
  return answerOrder(call, id, order);
}

function isLost({ clock }: Acme, { finalizedAt }: Order): boolean {
  return finalizedAt === undefined || clock.now().epochMilliseconds - Temporal.Instant.from(finalizedAt).epochMilliseconds > lostMs;
}

function readRequest({ ca }: AccountCall, csr: Uint8Array): VerifiedRequest {
  try {
    return ca.readRequest(csr);
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) throw failAcme('acme-bad-csr', error.details.detail);
    throw error;
  }
}

/**
 * Requires that the request has exactly the names of the order: as alternative names, with any common name among them, and nothing else in its
 * subject.
 */
function requireNames(request: VerifiedRequest, { identifiers }: Order): readonly string[] {
  if (request.unproved !== '') {
    const seen = request.unproved.slice(0, 300);
    throw failAcme('acme-bad-csr', `The subject of the request has "${seen}", which nobody has proved: leave out all but the common name.`);
  }
  const wanted = new Set(identifiers.map(nameOf));
  const names = new Set(request.names.map((name) => (name.startsWith('DNS:') ? `DNS:${name.slice(4).toLowerCase()}` : name)));
  const missing = wanted.difference(names);
  const more = names.union(new Set(request.commonNames.map(ofCommonName))).difference(wanted);
  if (missing.size === 0 && more.size === 0) return [...wanted];
  const seen = [...missing].map((name) => `without ${name}`).concat([...more].map((name) => `with ${name.slice(0, 300)}`));
  throw failAcme('acme-bad-csr', `The names of the request are not those of the order: it is ${seen.slice(0, 5).join(', ')}.`);
}

/** Takes the request for the order, once. Throws `acme-order-not-ready`. */
function take(acme: Acme, transaction: WriteTransaction, call: AccountCall, id: string, csr: Uint8Array): Order {
  requireValid(acme, transaction, call);
  const place = placeOf(call, call.account.id, id);
  const order = transaction.get(acme.tables.orders, place);
  if (order === undefined) throw notFound();
  const now = formatTimestamp(acme.clock.now());
  // A repeated request, because the answer was lost, gets the same certificate.
  if (order.csr !== undefined && Buffer.compare(order.csr, csr) === 0) return order;
  if (order.status !== 'ready' || order.until < now)
    throw failAcme(
      'acme-order-not-ready',
      `The order is ${order.until < now ? 'over' : order.status}: it is finalized once, when it is ready.`,
    );
  const taken: Order = { ...order, status: 'processing', csr, finalizedAt: now, clientIp: call.clientIp };
  transaction.put(acme.tables.orders, place, taken);
  return taken;
}

type Work = { readonly account: string; readonly id: string; readonly order: Order };

/** Issues in the background. */
function beginIssue(acme: Acme, site: Site, work: Work): void {
  const name = `${work.account} ${work.id}`;
  if (work.order.status !== 'processing' || acme.issuing.has(name)) return;
  acme.issuing.add(name);
  issue(acme, site, work)
    .catch((error: unknown) => acme.log.warn('an order of ACME waits for its certificate', describeFault(error)))
    .finally(() => acme.issuing.delete(name));
}

async function issue(acme: Acme, site: Site, work: Work): Promise<void> {
  const { order, account, id } = work;
  if (order.csr === undefined) return;
  const ttlSeconds = order.notAfter === undefined ? undefined : secondsUntil(acme, order.notAfter);
  if (ttlSeconds !== undefined && ttlSeconds < 1)
    return end(acme, site, work, { type: 'malformed', detail: '"notAfter" of the order has passed: make another order.' });
  try {
    await requireCaa(acme, site, work);
    const outcome = await site.ca.readRequest(order.csr).enrolProven({
      ...{ protocol: 'acme', transaction: `${account}/${id}`, credential: 'account' },
      purposes: profiles[order.profile]?.purposes ?? ['serverAuth'],
      ttlSeconds,
      findProblem: (transaction) => findProblem(acme, transaction, site, work),
      keep: (transaction, { serial, notAfter }) => keep(acme, transaction, site, work, { serial, until: notAfter }),
    });
    if (outcome.status === 'refused') await end(acme, site, work, { type: 'unauthorized', detail: outcome.detail });
    if (outcome.status === 'issued') await record(acme, site, work, outcome.serial);
  } catch (error) {
    if (error instanceof CaaRefusal) return end(acme, site, work, error.problem);
    // Whatever passes by itself is tried again at the next question for the order.
    if (!(error instanceof ServiceError) || error.status >= 500 || error.status === 429) throw error;
    await end(acme, site, work, problemOf(error));
  }
}

/** The CAA records of the names have the last word, where the CA has a name in them. Rejects with CaaRefusal. */
async function requireCaa({ ways }: Acme, { settings, base }: Site, { account, order }: Work): Promise<void> {
  const { caaIdentities } = settings;
  // A certificate that is on record already is only looked up.
  if (caaIdentities.length === 0 || order.serial !== undefined) return;
  const wishes = order.identifiers.map((identifier, index) => ({ identifier, way: order.authorizations[index]?.attempt?.type }));
  try {
    await inTime(
      requireAllowedByCaa(wishes, { identities: caaIdentities, accountUrl: `${base}/account/${account}`, find: (name) => ways.caa(name) }),
      caaMs,
      () => Promise.reject(new NotProved('dns', 'The name servers did not give the CAA records of all names in time.')),
    );
  } catch (error) {
    throw new CaaRefusal(problemOfFailure(error), { cause: error });
  }
}

class CaaRefusal extends Error {
  override readonly name = 'CaaRefusal';
  readonly problem: Problem;

  constructor(problem: Problem, options: ErrorOptions) {
    super(problem.detail, options);
    this.problem = problem;
  }
}

function secondsUntil({ clock }: Acme, end: string): number {
  return Math.floor(clock.now().until(Temporal.Instant.from(end)).total('seconds'));
}

/** Checks again what counts at the moment of the record. */
function findProblem({ tables }: Acme, transaction: WriteTransaction, site: Site, { account: id, id: orderId }: Work): string | undefined {
  const problem = findProblemOf(site, transaction.get(tables.accounts, placeOf(site, id)), transaction);
  if (problem !== undefined) return problem;
  const order = transaction.get(tables.orders, placeOf(site, id, orderId));
  if (order?.status !== 'processing') return 'The order has ended.';
  return order.authorizations.every(({ status }) => status === 'valid') ? undefined : 'An authorization of the order has ended.';
}

function keep(
  acme: Acme,
  transaction: WriteTransaction,
  site: Site,
  { account, id }: Work,
  { serial, until }: { readonly serial: string; readonly until: string },
): void {
  const { orders, accounts, certificates } = acme.tables;
  const place = placeOf(site, account, id);
  const order = transaction.get(orders, place);
  const owner = transaction.get(accounts, placeOf(site, account));
  if (order === undefined || owner === undefined) return;
  closeOrder(acme, transaction, place, order, { status: 'valid', serial });
  transaction.put(certificates, placeOf(site, serial), { account, order: id, until });
  if (!owner.isProven) proveAccount(acme, transaction, placeOf(site, account), owner);
  const replaced = order.replaces === undefined ? undefined : transaction.get(certificates, placeOf(site, order.replaces));
  if (order.replaces !== undefined && replaced !== undefined)
    transaction.put(certificates, placeOf(site, order.replaces), { ...replaced, replacedBy: id });
}

/** Ends an order without a certificate. */
async function end(acme: Acme, site: Site, { account, id }: Work, error: Problem): Promise<void> {
  await acme.store.write((transaction) => {
    const place = placeOf(site, account, id);
    const order = transaction.get(acme.tables.orders, place);
    if (order?.status === 'processing') closeOrder(acme, transaction, place, order, { status: 'invalid', error });
  });
}

/** Records the issue in the audit trail: the certificate is handed out by later requests, whose records name it as well. */
async function record({ audit, clock }: Acme, { ca }: Site, { account, id, order }: Work, serial: string): Promise<void> {
  await audit.write({
    ...{ kind: 'acme', occurredAt: formatTimestamp(clock.now()), requestId: randomUUID(), tenantId: ca.tenantId },
    ...{ path: `/acme/${ca.tenantId}/${ca.name}/order`, method: 'POST', status: 200, requestTimeMs: 0 },
    ...{ clientIp: order.clientIp ?? '', userAgent: '' },
    requestParameters: { operation: 'issue', ca: ca.name, account, order: id, names: order.identifiers.map(nameOf), serial },
    // Not one of those that a flood keeps out of the trail.
    [hasCredential]: true,
  });
}
