// Orders (RFC 8555 section 7.4): which names an account asks for, and where it stands with them.
import { decodeTimestamp, formatTimestamp } from '../../../core/base/time.ts';
import { fail } from '../../../core/base/errors.ts';
import { defined } from '../../../core/base/defined.ts';
import type { JsonValue } from '../../../core/wire/json.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { type AccountCall, type Acme, type AcmeAnswer, answerJson, drawId, notFound, placeOf } from '../context.ts';
import { failAcme, formatStored } from '../errors.ts';
import { malformed } from '../message/malformed.ts';
import { isWildcard, nameOf, readIdentifiers } from '../message/identifiers.ts';
import { readPayload } from '../message/jws.ts';
import { limits, livesInHours } from '../limits.ts';
import type { Account, Authorization, Identifier, Order } from '../records/records.ts';
import { requireValid } from './account.ts';
import { defaultProfile, profiles } from './profiles.ts';
import { readCertificateId } from './renewal-info.ts';

export async function newOrder(acme: Acme, call: AccountCall): Promise<AcmeAnswer> {
  const { account } = call;
  const payload = readPayload(call.jws);
  const identifiers = readIdentifiers(payload['identifiers']);
  call.note({ names: identifiers.map(nameOf) });
  const bound = requireKeyOf(call);
  requirePermitted(call, identifiers, bound);
  const [notAfter, profile] = [readEnd(acme, payload), readProfile(payload['profile'])];
  const replaces = payload['replaces'] === undefined ? undefined : readCertificateId(call, payload['replaces']);
  const id = await drawId(acme);
  const isBound = bound.length > 0;
  const authorizations: Authorization[] = [];
  for (let index = 0; index < identifiers.length; index++)
    authorizations.push({ status: isBound ? 'valid' : 'pending', token: await drawId(acme) });
  const now = acme.clock.now();
  const until = formatTimestamp(now.add({ hours: livesInHours.order }));
  const order: Order = {
    ...{ status: isBound ? 'ready' : 'pending', createdAt: formatTimestamp(now), until },
    ...{ identifiers, authorizations, profile, notAfter, replaces },
  };
  await acme.store.write((transaction) => {
    const present = requireValid(acme, transaction, call);
    requireRoom(acme, transaction, call, present);
    if (replaces !== undefined) requireOwnToReplace(acme, transaction, call, replaces);
    transaction.put(acme.tables.orders, placeOf(call, account.id, id), order);
    transaction.put(acme.tables.openOrders, placeOf(call, account.id, id), true);
    transaction.put(acme.tables.accounts, placeOf(call, account.id), { ...present, usedAt: order.createdAt });
  });
  call.note({ order: id });
  return answerOrder(call, id, order, 201);
}

/** Names for which the account has to prove nothing; none: it proves every name. Throws `acme-external-account-required`. */
function requireKeyOf({ ca, account, settings }: AccountCall): readonly string[] {
  const { eabKey } = account.record;
  const key = eabKey === undefined ? undefined : ca.findAccountKey(eabKey);
  if (eabKey === undefined && settings.externalAccountRequired)
    throw failAcme('acme-external-account-required', 'The CA takes only accounts that were made with a key of the administrator.');
  return key?.names ?? [];
}

function requirePermitted({ ca, settings }: AccountCall, identifiers: readonly Identifier[], bound: readonly string[]): void {
  const refused = identifiers.flatMap((identifier) => {
    const name = nameOf(identifier);
    const problem =
      bound.length > 0 && !bound.some((one) => one.toLowerCase() === name.toLowerCase())
        ? 'it is not one of the names of the key of this account'
        : (ca.findForbidden([name]) ??
          (bound.length === 0 && isWildcard(identifier) && !settings.challenges.includes('dns-01')
            ? 'a wildcard is proved by dns-01, which the CA does not allow'
            : undefined));
    return problem === undefined ? [] : [{ identifier, problem }];
  });
  const [first] = refused;
  if (first !== undefined)
    throw failAcme('acme-rejected-identifier', `The name ${first.identifier.value} is not permitted: ${first.problem}.`, {
      members: {
        subproblems: refused.map(({ identifier, problem }) => ({
          ...formatStored({ type: 'rejectedIdentifier', detail: `The name is not permitted: ${problem}.` }),
          identifier,
        })),
      },
    });
  if (bound.length === 0 && settings.challenges.length === 0)
    throw failAcme('acme-unauthorized', 'The CA allows no challenge: it issues only names of keys of the administrator.');
}

/** The proof of one name is little: what an account without a key may leave on record stays small. */
function requireRoom({ tables }: Acme, transaction: WriteTransaction, call: AccountCall, { isProven, eabKey }: Account): void {
  const own = placeOf(call, call.account.id);
  const open = Array.from(transaction.keys(tables.openOrders, own)).length;
  const all = Array.from(transaction.keys(tables.orders, own)).length;
  const proven = eabKey === undefined ? limits.ordersWithoutKey : limits.orders;
  if (open < (isProven ? limits.openOrders : limits.openOrdersOfUnproven) && all < (isProven ? proven : limits.ordersOfUnproven)) return;
  throw fail('rate-limited', {
    detail: `The account has ${open} orders that are not finished, and ${all} in all: finish them, or wait until they have ended.`,
    retryAfterSeconds: 3_600,
  });
}

function requireOwnToReplace({ tables }: Acme, transaction: WriteTransaction, call: AccountCall, serial: string): void {
  const known = transaction.get(tables.certificates, placeOf(call, serial));
  if (known === undefined || known.account !== call.account.id)
    throw malformed('"replaces" names no certificate that an order of this account has got.');
  if (known.replacedBy !== undefined) throw failAcme('acme-already-replaced');
}

/** Wishes for the begin are refused; a wish for the end makes a life shorter. */
function readEnd({ clock }: Acme, { notBefore, notAfter }: Readonly<Record<string, JsonValue>>): string | undefined {
  if (notBefore !== undefined) throw malformed('"notBefore" is not taken: certificates begin when they are issued.');
  if (notAfter === undefined) return undefined;
  const end = typeof notAfter === 'string' ? decodeTimestamp(notAfter) : undefined;
  if (end === undefined) throw malformed('"notAfter" is not a time as in RFC 3339.');
  if (Temporal.Instant.compare(end, clock.now()) <= 0) throw malformed('"notAfter" has passed.');
  return formatTimestamp(end);
}

function readProfile(value: JsonValue | undefined): string {
  if (value === undefined) return defaultProfile;
  if (typeof value === 'string' && Object.hasOwn(profiles, value)) return value;
  throw failAcme('acme-invalid-profile');
}

/** An order of the account by its id. Throws `not-found`. */
export function requireOrder({ tables, clock }: Acme, call: AccountCall): { readonly id: string; readonly order: Order } {
  const [owner = '', id = ''] = call.params;
  if (owner !== call.account.id) throw failAcme('acme-unauthorized', 'The URL is one of another account.');
  const order = tables.orders.get(placeOf(call, owner, id));
  if (order === undefined || order.until < formatTimestamp(clock.now())) throw notFound();
  return { id, order };
}

export function answerOrder({ base, account }: AccountCall, id: string, order: Order, status = 200): AcmeAnswer {
  const url = `${base}/order/${account.id}/${id}`;
  const { identifiers, authorizations, serial, error } = order;
  const document = {
    status: order.status,
    expires: order.until,
    identifiers,
    profile: order.profile,
    authorizations: authorizations.map((_one, index) => `${base}/authz/${account.id}/${id}/${index}`),
    finalize: `${url}/finalize`,
    ...defined({
      notAfter: order.notAfter,
      certificate: serial === undefined ? undefined : `${base}/certificate/${serial}`,
      error: error && formatStored(error),
    }),
  };
  // cert-manager's library asks the URL in Location after finalize.
  return answerJson(status, document, { location: url, ...(order.status === 'processing' ? { 'retry-after': '1' } : {}) });
}
