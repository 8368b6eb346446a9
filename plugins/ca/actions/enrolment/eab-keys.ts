// Keys for accounts of ACME: made for the names of servers or for any that they prove, shown once, listed and revoked.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { fail } from '../../../../core/base/errors.ts';
import { requireUncounted } from '../../../../core/access/policy/granting.ts';
import { formatTimestamp, parseDuration } from '../../../../core/base/time.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../../core/http/endpoint.ts';
import { answerList, listOf } from '../../../../core/http/resource/list-answer.ts';
import { listQuery } from '../../../../core/http/resource/list-query.ts';
import { durationField, timestampText } from '../../../../core/wire/fields.ts';
import type { CaContext } from '../../context.ts';
import { eabReference, makeEabKey } from '../../enrolment/eab-keys.ts';
import { findForbiddenNames } from '../../enrolment/proven.ts';
import { signingFor } from '../../issuing/signing.ts';
import type { EabKey } from '../../records/enrolments.ts';
import { caTag } from '../../tags.ts';
import { caPath, findCaOf, noKey, withAccounts } from '../action.ts';
import { idField, readAlternativeName } from './secrets.ts';

/** Keys of a CA that are on record at the same time. */
const mostKeys = 10_000;

const keyFields = z
  .object({
    id: z.string().meta({ description: 'Identifies the key: `kid` of the client.', example: '1f0c9a52-7d4e-4d0b-9b1e-6f0f5c1f2a77' }),
    names: z.array(z.string()).describe('Names for which its accounts prove nothing; none: accounts prove every name.'),
    createdAt: timestampText().describe('When it was made.'),
    until: timestampText().describe('Until when accounts are made with it.'),
    uses: z.int().describe('How many accounts can be made with it.'),
    usesLeft: z.int().describe('How many still can.'),
  })
  .meta({ typeName: 'EabKey' });

export function makeEabKeyAction(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/make-eab-key`,
    summary: 'Make a key with which clients of ACME make accounts',
    description:
      'External account binding (RFC 8555 section 7.3.4). With `names` its accounts get certificates for these names, without a challenge, and for no others. The key is shown once, and kept in the token. Needs `execute` of `…/sign-csr`.',
    tag: caTag,
    usefulWith: withAccounts,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['names', 'ttl', 'uses'],
    fieldRights: [{ field: 'names', operation: 'execute', path: `${caPath}/sign-csr` }],
    errors: ['built-in', 'ca-has-no-key'],
    secretOutput: ['key'],
    input: z.object({
      names: z
        .array(z.string().min(1).max(256))
        .max(64)
        .meta({ whenEmpty: [] })
        .default([])
        .meta({ description: 'Host names and addresses for which nothing is to be proved.', example: ['printer-7.example.com'] }),
      ttl: durationField({ minSeconds: 60, maxSeconds: 366 * 86_400 })
        .default(parseDuration('7d', 'ttl'))
        .describe('How long accounts can be made with it.'),
      uses: z.int().min(1).max(1_000).default(1).describe('How many accounts can be made with it.'),
    }),
    output: z.object({
      id: z.string().meta({ description: 'Identifies it: `kid` of the client.', example: '1f0c9a52-7d4e-4d0b-9b1e-6f0f5c1f2a77' }),
      key: z
        .string()
        .meta({ description: 'The HMAC key in base64url, this once.', example: 'zWND6YQs1pXo6c1t0dC9S0Vb9p8LrJ2vJj8l4m3mYkE' }),
      until: timestampText().describe('When accounts are no longer made with it.'),
    }),
    find: findCaOf(context, 'act'),
    async run(call, { names: texts, ttl, uses }, ca) {
      requireUncounted(call.caller, 'A key for accounts');
      if (ca.record.keyType === undefined) throw noKey(ca);
      call.access.requireEffectAt(
        ['v1', 'state', 'keystore', 'tls', 'ca', ca.record.name, 'sign-csr'],
        'execute',
        signingFor(ca.record.est),
      );
      const names = texts.map(readServerName);
      const problem = names.length === 0 ? undefined : findForbiddenNames(ca, names);
      if (problem !== undefined)
        throw fail('invalid-value', { detail: `"names" has one that the rules of "est" do not allow: ${problem}.` });
      const id = randomUUID();
      // Before the transaction, which every other change waits for: those that come at the same time may be a few more.
      if (Array.from(context.tables.eabKeys.keys([ca.tenantId, ca.record.id], { limit: mostKeys })).length >= mostKeys)
        throw fail('invalid-value', { detail: `The CA has ${mostKeys} keys for accounts on record: revoke some that are not needed.` });
      const { stored, text } = await makeEabKey(context, ca.tenantId, id);
      const until = formatTimestamp(call.now.add({ seconds: ttl.seconds }));
      const record: EabKey = { id, stored, names, createdAt: formatTimestamp(call.now), until, uses, usesLeft: uses };
      await context.store.write((transaction) => {
        const { eabKeys, cas } = context.tables;
        if (transaction.get(cas, [ca.tenantId, ca.record.name])?.id !== ca.record.id) throw fail('not-found');
        context.ledger.claim(transaction, [eabReference(ca.tenantId, record)]);
        transaction.put(eabKeys, [ca.tenantId, ca.record.id, id], record);
      });
      call.noteAudit({ requestParameters: { id, until } });
      return { id, key: text, until };
    },
  });
}

/** As formatAlternativeName writes it; identifiers of ACME are host names and addresses (RFC 8555 section 9.7.7, RFC 8738). */
function readServerName(text: string): string {
  const name = readAlternativeName(text);
  if (name.startsWith('DNS:') || name.startsWith('IP:')) return name;
  throw fail('invalid-value', { detail: '"names" has host names and IP addresses alone: ACME knows no other names.' });
}

export function listEabKeys(context: CaContext): AnyEndpoint {
  const path = `${caPath}/eab-keys`;
  return defineEndpoint({
    method: 'GET',
    path,
    summary: 'The keys for accounts of ACME, without the keys',
    description:
      'With the names of each, and how many accounts can still be made with it. One that was never used is listed for 90 days after its end.',
    tag: caTag,
    usefulWith: withAccounts,
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    act: 'none',
    query: listQuery,
    nameField: 'id',
    output: z.array(keyFields),
    find: findCaOf(context, 'read'),
    run(call, _input, ca) {
      const all = Array.from(context.tables.eabKeys.entries([ca.tenantId, ca.record.id]), ([, key]) => [key.id, key] as const);
      return answerList(call, { path, nameField: 'id' }, keyFields, listOf(all), (_id, { names, stored: _stored, ...fields }) => ({
        ...fields,
        names: [...names],
      }));
    },
  });
}

export function revokeEabKey(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/revoke-eab-key`,
    summary: 'Revoke a key for accounts of ACME',
    description:
      'At once and for good: no account is made with it, and those that were made with it do nothing from then on. Their certificates stay valid.',
    tag: caTag,
    usefulWith: withAccounts,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['id'],
    errors: ['built-in'],
    commandLine: { positional: ['id'], ends: 'revokes the key and ends its accounts, which cannot be taken back' },
    input: z.object({ id: idField('eab-key', 'The CA in the path has it.') }),
    output: z.object({ usesLeft: z.int().describe('How many accounts could still have been made with it.') }),
    find: findCaOf(context, 'act'),
    async run(_call, { id }, ca) {
      const { store, tables } = context;
      const place = [ca.tenantId, ca.record.id, id];
      return store.write((transaction) => {
        const present = transaction.get(tables.eabKeys, place);
        if (present === undefined) throw fail('not-found', { detail: 'The CA has no key for accounts with this id.' });
        transaction.delete(tables.eabKeys, place);
        return { usesLeft: present.usesLeft };
      });
    },
  });
}
