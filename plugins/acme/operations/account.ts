// Accounts (RFC 8555 section 7.3): made by a key, with or without a key of an administrator, changed and deactivated.
import { subscriberOf } from '../../../core/base/addresses.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { fail } from '../../../core/base/errors.ts';
import { isJsonObject, type JsonValue } from '../../../core/wire/json.ts';
import type { ExternalAccountKey } from '../../../core/plugin/services/certificate-authority.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import {
  type AccountCall,
  type Acme,
  type AcmeAnswer,
  answerJson,
  drawId,
  notFound,
  placeOf,
  type SignedCall,
  type Site,
} from '../context.ts';
import { failAcme } from '../errors.ts';
import { malformed } from '../message/malformed.ts';
import { readJwsObject, readPayload } from '../message/jws.ts';
import { readKey } from '../message/signer.ts';
import { limits } from '../limits.ts';
import type { Account } from '../records/records.ts';

export async function newAccount(acme: Acme, call: SignedCall): Promise<AcmeAnswer> {
  const payload = readPayload(call.jws);
  const { signer } = call;
  const known = acme.tables.accountKeys.get(placeOf(call, signer.thumbprint));
  const present = known === undefined ? undefined : acme.tables.accounts.get(placeOf(call, known));
  if (known !== undefined && present !== undefined) return answerKnown(call, known, present);
  if (payload['onlyReturnExisting'] === true) throw failAcme('acme-account-does-not-exist');
  const contact = readContacts(payload['contact']);
  const eab = await readBinding(call, payload['externalAccountBinding']);
  const id = await drawId(acme);
  const now = formatTimestamp(acme.clock.now());
  const account: Account = {
    ...{ status: 'valid', jwk: signer.jwk, thumbprint: signer.thumbprint, contact, createdAt: now, usedAt: now },
    ...{ eabKey: eab?.id, subscriber: subscriberOf(call.clientIp), isProven: eab !== undefined },
  };
  if (eab === undefined) requireRoomOfCa(acme, call);
  const kept = await acme.store.write((transaction) => keepNew(acme, transaction, call, { id, account, eab: eab?.key }));
  if (kept !== undefined) return answerKnown(call, kept.id, kept.record);
  call.note({ account: id, ...(eab === undefined ? {} : { 'eab-key': eab.id }) });
  return answerJson(201, formatAccount(call, id, account), { location: `${call.base}/account/${id}` });
}

function answerKnown(call: SignedCall, id: string, record: Account): AcmeAnswer {
  const problem = findProblemOf(call, record);
  if (problem !== undefined) throw failAcme('acme-unauthorized', `${problem} An account of this key is on record: make another key.`);
  call.note({ account: id });
  return answerJson(200, formatAccount(call, id, record), { location: `${call.base}/account/${id}` });
}

type New = { readonly id: string; readonly account: Account; readonly eab: ExternalAccountKey | undefined };

/** Records a new account. Returns the one that its key has got meanwhile. Throws the refusals of limits and of the administrator's key. */
function keepNew(
  { tables }: Acme,
  transaction: WriteTransaction,
  call: SignedCall,
  { id, account, eab }: New,
): { readonly id: string; readonly record: Account } | undefined {
  const other = transaction.get(tables.accountKeys, placeOf(call, account.thumbprint));
  const record = other === undefined ? undefined : transaction.get(tables.accounts, placeOf(call, other));
  if (other !== undefined && record !== undefined) return { id: other, record };
  const problem = eab?.spend(transaction);
  if (problem !== undefined) throw failAcme('acme-unauthorized', `The account is not made: ${problem}.`);
  if (eab === undefined) {
    const [own, open] = [tables.unproven, tables.openAccounts].map(
      (table) => Array.from(transaction.keys(table, placeOf(call, account.subscriber))).length,
    );
    if ((own ?? 0) >= limits.unprovenOfSubscriber || (open ?? 0) >= limits.openOfSubscriber) throw noRoom();
  }
  transaction.put(tables.accounts, placeOf(call, id), account);
  transaction.put(tables.accountKeys, placeOf(call, account.thumbprint), id);
  if (eab === undefined)
    for (const table of [tables.unproven, tables.openAccounts]) transaction.put(table, placeOf(call, account.subscriber, id), true);
  return undefined;
}

/** Counts before the transaction, which every other change waits for: those that come at the same time may be a few more. Throws `rate-limited`. */
function requireRoomOfCa({ tables, clock, rooms }: Acme, call: SignedCall): void {
  const now = clock.monotonicMs();
  const known = rooms.get(call.ca.id);
  // Ten thousand keys take a while, and anybody asks: the count may be this old, with what this process has added.
  const isFresh = known !== undefined && now - known.atMs < countedMs;
  const taken = isFresh ? known.taken : Array.from(tables.unproven.keys(placeOf(call), { limit: limits.unprovenOfCa })).length;
  if (rooms.size > mostRooms) rooms.clear();
  rooms.set(call.ca.id, { taken: taken + 1, atMs: isFresh ? known.atMs : now });
  if (taken >= limits.unprovenOfCa) throw noRoom();
}

/** Milliseconds for which a count of the accounts of a CA is used, and counts that are remembered. */
const countedMs = 5_000;
const mostRooms = 1_000;

function noRoom(): Error {
  return fail('rate-limited', {
    detail:
      'Too many accounts were made without a key of the administrator, here or from this address: use one that exists, or such a key.',
    retryAfterSeconds: 3_600,
  });
}

/** Verifies the binding to a key of an administrator (RFC 8555 section 7.3.4); undefined without one where none is needed. */
async function readBinding(
  call: SignedCall,
  binding: JsonValue | undefined,
): Promise<{ readonly id: string; readonly key: ExternalAccountKey } | undefined> {
  if (binding === undefined) {
    if (call.settings.externalAccountRequired) throw failAcme('acme-external-account-required');
    return undefined;
  }
  if (!isJsonObject(binding)) throw malformed('"externalAccountBinding" is not a JWS.');
  const inner = readJwsObject(binding);
  if (inner.alg !== 'HS256')
    throw failAcme('acme-bad-signature-algorithm', 'The binding is signed with HS256.', { members: { algorithms: ['HS256'] } });
  if (inner.nonce !== undefined) throw malformed('The protected header of the binding has a "nonce", which belongs to the outer message.');
  if (inner.url !== call.jws.url) throw malformed('"url" of the binding is not that of the outer message.');
  if (readKey(readPayload(inner)).thumbprint !== call.signer.thumbprint)
    throw malformed('The payload of the binding is not the key of the account.');
  // A right key passes whatever others behind the address have sent: nobody guesses one of 256 bits.
  call.ca.requireFewUnproven(call.clientIp, false);
  const key = inner.kid === undefined ? undefined : call.ca.findAccountKey(inner.kid);
  if (inner.kid === undefined || key === undefined || !(await key.verify(inner.signed, inner.signature))) {
    await call.ca.countUnproven(call.clientIp);
    throw failAcme('acme-unauthorized', 'The binding is not signed with a key for accounts of this CA: check its id and the key.');
  }
  // One that makes no accounts any longer counts as no credential: what it costs is limited by the address, and the tenant does not pay for it.
  if (key.problem !== undefined) {
    await call.ca.countUnproven(call.clientIp);
    throw failAcme('acme-unauthorized', `The account is not made: ${key.problem}.`);
  }
  call.accept();
  return { id: inner.kid, key };
}

function readContacts(value: JsonValue | undefined): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw malformed('"contact" is not a list.');
  const contacts = value as readonly JsonValue[];
  if (contacts.length > limits.contacts) throw failAcme('acme-invalid-contact', `At most ${limits.contacts} contacts are kept.`);
  return contacts.map((one) => {
    if (typeof one !== 'string' || one.length > limits.contactCharacters) throw failAcme('acme-invalid-contact');
    if (!one.toLowerCase().startsWith('mailto:')) throw failAcme('acme-unsupported-contact');
    // RFC 8555 section 7.3: one address, and no header fields.
    if (!/^mailto:[^\s@?,]+@[^\s@?,]+$/i.test(one)) throw failAcme('acme-invalid-contact');
    return one;
  });
}

/** Reads, changes or deactivates the account (RFC 8555 sections 7.3.2 and 7.3.6). */
export async function updateAccount(acme: Acme, call: AccountCall): Promise<AcmeAnswer> {
  const { account } = call;
  if (call.params[0] !== account.id) throw failAcme('acme-unauthorized', 'The URL is that of another account.');
  if (call.jws.payload.length === 0) return answerJson(200, formatAccount(call, account.id, account.record));
  const payload = readPayload(call.jws);
  const { status } = payload;
  if (status !== undefined && status !== 'deactivated' && status !== account.record.status)
    throw malformed('"status" of an account is set to "deactivated" alone.');
  const contact = payload['contact'] === undefined ? undefined : readContacts(payload['contact']);
  const changed = await acme.store.write((transaction) => {
    const present = requireValid(acme, transaction, call);
    const next: Account = { ...present, ...(contact === undefined ? {} : { contact }), ...(status === 'deactivated' ? { status } : {}) };
    transaction.put(acme.tables.accounts, placeOf(call, account.id), next);
    return next;
  });
  if (status === 'deactivated') call.note({ deactivated: true });
  return answerJson(200, formatAccount(call, account.id, changed));
}

/** The account that signs, if it counts still. Throws `acme-unauthorized`. */
export function requireValid({ tables }: Acme, transaction: WriteTransaction, call: AccountCall): Account {
  const account = transaction.get(tables.accounts, placeOf(call, call.account.id));
  const problem = findProblemOf(call, account, transaction);
  if (account === undefined || problem !== undefined) throw failAcme('acme-unauthorized', problem);
  return account;
}

/**
 * The reason for which an account does nothing any longer, as a sentence; undefined for one that counts. Without `transaction`: as of the last
 * refresh of the store.
 */
export function findProblemOf({ ca }: Pick<Site, 'ca'>, account: Account | undefined, transaction?: WriteTransaction): string | undefined {
  if (account?.status !== 'valid') return 'The account is deactivated.';
  const { eabKey } = account;
  const key = eabKey === undefined ? undefined : ca.findAccountKey(eabKey);
  const isThere = transaction === undefined ? key !== undefined : key?.isPresent(transaction) === true;
  if (eabKey === undefined || isThere) return undefined;
  return 'The key of the administrator with which the account was made was revoked: ask for another one, and make another account.';
}

/** The orders of the account that are on record (RFC 8555 section 7.1.2.1). */
export function listOrders(acme: Acme, call: AccountCall): AcmeAnswer {
  const { account, base } = call;
  if (call.params[0] !== account.id) throw notFound();
  const ids = Array.from(acme.tables.orders.keys(placeOf(call, account.id), { limit: 1_000 }), (key) => String(key.at(-1)));
  return answerJson(200, { orders: ids.map((id) => `${base}/order/${account.id}/${id}`) });
}

function formatAccount({ base }: SignedCall, id: string, { status, contact }: Account): Readonly<Record<string, unknown>> {
  return { status, contact, orders: `${base}/account/${id}/orders` };
}
