// Authorizations and challenges of an order (RFC 8555 section 7.5).
import { formatTimestamp } from '../../../core/base/time.ts';
import { type AccountCall, type Acme, type AcmeAnswer, answerJson, notFound, placeOf } from '../context.ts';
import { formatStored } from '../errors.ts';
import { malformed } from '../message/malformed.ts';
import { baseOf, isWildcard, nameOf } from '../message/identifiers.ts';
import { readPayload } from '../message/jws.ts';
import { closeOrder } from '../records/orders.ts';
import type { Authorization, Identifier, Order } from '../records/records.ts';
import { beginValidation, isLost, isProvedBy, takeTurn, type Target, type Turn } from './validation.ts';
import { requireValid } from './account.ts';
import { requireOrder } from './order.ts';

type Found = {
  readonly id: string;
  readonly order: Order;
  readonly index: number;
  readonly authorization: Authorization;
  readonly identifier: Identifier;
};

function requireAuthorization(acme: Acme, call: AccountCall): Found {
  const { id, order } = requireOrder(acme, call);
  const text = call.params[2] ?? '';
  const index = /^(?:0|[1-9]\d{0,3})$/.test(text) ? Number(text) : -1;
  const [authorization, identifier] = [order.authorizations[index], order.identifiers[index]];
  if (authorization === undefined || identifier === undefined) throw notFound();
  return { id, order, index, authorization, identifier };
}

/** Shows an authorization, or deactivates it (RFC 8555 section 7.5.2). */
export async function readAuthorization(acme: Acme, call: AccountCall): Promise<AcmeAnswer> {
  const found = requireAuthorization(acme, call);
  if (call.jws.payload.length === 0) {
    resume(acme, call, found);
    return answerJson(200, formatAuthorization(acme, call, found), retryAfter(found.authorization));
  }
  if (readPayload(call.jws)['status'] !== 'deactivated') throw malformed('"status" of an authorization is set to "deactivated" alone.');
  const deactivated = await acme.store.write((transaction) => {
    const place = placeOf(call, call.account.id, found.id);
    const order = transaction.get(acme.tables.orders, place);
    const authorization = order?.authorizations[found.index];
    if (order === undefined || authorization === undefined) throw notFound();
    if (authorization.status !== 'pending' && authorization.status !== 'valid')
      throw malformed('The authorization has ended: nothing is left to deactivate.');
    const { attempt } = authorization;
    const ended = attempt?.status === 'processing' ? { attempt: { ...attempt, status: 'invalid' } as const } : {};
    const next: Authorization = { ...authorization, ...ended, status: 'deactivated' };
    const changed: Order = { ...order, authorizations: order.authorizations.with(found.index, next) };
    transaction.delete(acme.tables.proofs, placeOf(call, call.account.id, nameOf(found.identifier)));
    const error = { type: 'unauthorized', detail: 'An authorization of the order was deactivated.' };
    if (order.status === 'pending' || order.status === 'ready') closeOrder(acme, transaction, place, changed, { status: 'invalid', error });
    else transaction.put(acme.tables.orders, place, changed);
    return next;
  });
  return answerJson(200, formatAuthorization(acme, call, { ...found, authorization: deactivated }));
}

/** Shows a challenge, or begins with it: the payload is `{}` then (RFC 8555 section 7.5.1). */
export async function answerChallenge(acme: Acme, call: AccountCall): Promise<AcmeAnswer> {
  const found = requireAuthorization(acme, call);
  const type = call.params[3] ?? '';
  if (!offered(call, found).includes(type)) throw notFound();
  const { authorization } = found;
  const up = { link: `<${authorizationUrl(call, found)}>;rel="up"` };
  if (call.jws.payload.length > 0) readPayload(call.jws);
  // acme.sh begins with an invalid challenge again: it gets what it knows.
  if (
    call.jws.payload.length === 0 ||
    authorization.status !== 'pending' ||
    found.order.status !== 'pending' ||
    authorization.attempt !== undefined
  ) {
    resume(acme, call, found);
    return answerJson(200, formatChallenge(acme, call, found, type), { ...up, ...retryAfter(authorization) });
  }
  const target = targetOf(call, found);
  const turn = takeTurn(acme, target);
  const begun = turn === undefined ? authorization : await beginIn(turn, () => begin(acme, call, found, type));
  if (turn !== undefined) beginValidation(acme, target, begun, { identifier: found.identifier, turn });
  return answerJson(200, formatChallenge(acme, call, { ...found, authorization: begun }, type), { ...up, 'retry-after': '1' });
}

/** Begins in a turn, which ends with a failure. */
async function beginIn(turn: Turn, run: () => Promise<Authorization>): Promise<Authorization> {
  try {
    return await run();
  } catch (error) {
    turn.end();
    throw error;
  }
}

/** Records that a challenge is being validated, once. */
function begin(acme: Acme, call: AccountCall, { id, index }: Found, type: string): Promise<Authorization> {
  const startedAt = formatTimestamp(acme.clock.now());
  return acme.store.write((transaction) => {
    requireValid(acme, transaction, call);
    const place = placeOf(call, call.account.id, id);
    const order = transaction.get(acme.tables.orders, place);
    const present = order?.authorizations[index];
    if (order === undefined || present === undefined) throw notFound();
    if (order.status !== 'pending' || present.status !== 'pending' || present.attempt !== undefined) return present;
    const next: Authorization = { ...present, attempt: { type, status: 'processing', startedAt } };
    transaction.put(acme.tables.orders, place, { ...order, authorizations: order.authorizations.with(index, next) });
    return next;
  });
}

/** Continues with a challenge whose process has ended before it was decided. Throws `rate-limited`. */
function resume(acme: Acme, call: AccountCall, found: Found): void {
  const { status, attempt } = found.authorization;
  // Of what has ended nothing is recorded, and each question would ask the host again.
  if (status !== 'pending' || found.order.status !== 'pending' || attempt === undefined || !isLost(acme, attempt)) return;
  const target = targetOf(call, found);
  const turn = takeTurn(acme, target);
  if (turn !== undefined) beginValidation(acme, target, found.authorization, { identifier: found.identifier, turn });
}

function targetOf(call: AccountCall, { id, index }: Found): Target {
  const { account, signer, clientIp, ca, settings, base } = call;
  return {
    site: { ca, settings, base },
    account: account.id,
    thumbprint: signer.thumbprint,
    order: id,
    index,
    clientIp,
    isProven: account.record.isProven,
  };
}

/** Challenges that the CA allows and that prove this type of name. */
function offered({ settings }: AccountCall, { identifier, authorization }: Found): readonly string[] {
  const allowed = settings.challenges.filter((type) => isProvedBy(identifier, type));
  const { attempt } = authorization;
  // One that was begun stays, whatever the CA allows since.
  return attempt === undefined || allowed.includes(attempt.type) ? allowed : [...allowed, attempt.type];
}

function formatAuthorization(acme: Acme, call: AccountCall, found: Found): Readonly<Record<string, unknown>> {
  const { authorization, identifier, order } = found;
  const { attempt } = authorization;
  const all = offered(call, found);
  // RFC 8555 section 7.1.6: a decided authorization shows the challenge that decided.
  const shown = authorization.status === 'pending' || attempt === undefined ? all : [attempt.type];
  return {
    status: authorization.status,
    expires: order.until,
    ...(isWildcard(identifier) ? { identifier: baseOf(identifier), wildcard: true } : { identifier }),
    challenges: shown.map((type) => formatChallenge(acme, call, found, type)),
  };
}

function formatChallenge(_acme: Acme, call: AccountCall, found: Found, type: string): Readonly<Record<string, unknown>> {
  const { authorization } = found;
  const attempt = authorization.attempt?.type === type ? authorization.attempt : undefined;
  return {
    type,
    url: `${call.base}/challenge/${call.account.id}/${found.id}/${found.index}/${type}`,
    status: attempt?.status ?? 'pending',
    token: authorization.token,
    ...(attempt?.status === 'valid' ? { validated: attempt.startedAt } : {}),
    ...(attempt?.error === undefined ? {} : { error: formatStored(attempt.error) }),
  };
}

function authorizationUrl({ base, account }: AccountCall, { id, index }: Found): string {
  return `${base}/authz/${account.id}/${id}/${index}`;
}

function retryAfter({ status, attempt }: Authorization): Readonly<Record<string, string>> {
  return status === 'pending' && attempt?.status === 'processing' ? { 'retry-after': '1' } : {};
}
