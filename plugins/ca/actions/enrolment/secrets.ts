// One-time secrets of devices: made for one identity each, shown once, listed and revoked.
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import { fail } from '../../../../core/base/errors.ts';
import { formatTimestamp, parseDuration } from '../../../../core/base/time.ts';
import { anyValue } from '../../../../core/access/policy/constraints.ts';
import { requireUncounted } from '../../../../core/access/policy/granting.ts';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../../../core/http/endpoint.ts';
import { answerList, listOf } from '../../../../core/http/resource/list-answer.ts';
import { listQuery } from '../../../../core/http/resource/list-query.ts';
import { naming } from '../../../../core/http/named-entries.ts';
import { durationField, timestampText } from '../../../../core/wire/fields.ts';
import type { FoundCa } from '../../authority/lookup.ts';
import type { CaContext } from '../../context.ts';
import { formatIpAddress, parseIpAddress } from '../../../../core/der/ip.ts';
import { readName } from '../../../../core/der/name.ts';
import { drawSecret, secretKeyOf } from '../../enrolment/secrets.ts';
import { findForbiddenName } from '../../issuing/identity-policy.ts';
import { parseAlternativeName } from '../../names/alternative-name.ts';
import { normaliseDomain } from '../../names/domain.ts';
import { signing, signingFor } from '../../issuing/signing.ts';
import { requireSubject } from '../../issuing/subject.ts';
import type { EnrolmentSecret } from '../../records/enrolments.ts';
import { caPath, findCaOf, noKey, withRegistration } from '../action.ts';
import { caTag } from '../../tags.ts';

/** Secrets of a CA that are on record at the same time. */
const mostSecrets = 10_000;

const secretFields = z
  .object({
    id: z
      .string()
      .meta({ description: 'Identifies the secret, and tells nothing of it.', example: '1f0c9a52-7d4e-4d0b-9b1e-6f0f5c1f2a77' }),
    subject: z.string().meta({ description: 'Subject that the device may have, exactly.', example: 'CN=printer-7,serialNumber=AB12' }),
    names: z.array(z.string()).describe('Subject alternative names that it may have.'),
    createdAt: timestampText().describe('When it was made.'),
    until: timestampText().describe('When it ends.'),
    uses: z.int().describe('How often it can be used.'),
    usesLeft: z.int().describe('How often it still can.'),
  })
  .meta({ typeName: 'EnrolmentSecret' });

export function makeEnrolmentSecret(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/make-enrolment-secret`,
    summary: 'Make a secret with which one device enrols',
    description:
      'For one device: its exact subject, the alternative names that it may have, an end and a number of uses. The device sends it as challengePassword of SCEP, or proves it with the MAC of CMP, with the id as its reference. It is shown once; only its hash is stored, and with `for-cmp` the secret, sealed. Needs `execute` of `…/sign-csr`, and for names that the rules of `est` do not allow, such as a serial number, of `…/sign-freely`.',
    tag: caTag,
    usefulWith: withRegistration,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['subject', 'names', 'ttl', 'uses', 'forCmp'],
    fieldRights: [
      { field: 'subject', operation: 'execute', path: `${caPath}/sign-csr` },
      { field: 'subject', operation: 'execute', path: `${caPath}/sign-freely` },
      { field: 'names', operation: 'execute', path: `${caPath}/sign-freely` },
    ],
    errors: ['built-in', 'ca-has-no-key'],
    commandLine: { positional: ['subject'] },
    secretOutput: ['secret'],
    input: z.object({
      subject: z.string().min(1).max(1_024).meta({ description: 'Subject of the device, exactly.', example: 'CN=printer-7.example.com' }),
      names: z
        .array(z.string().min(1).max(256))
        .max(64)
        .meta({ whenEmpty: [] })
        .default([])
        .meta({
          description: 'Alternative names that it may ask for: host names, addresses, or with `email:` or `URI:` in front.',
          example: ['printer-7.example.com'],
        }),
      ttl: durationField({ minSeconds: 60, maxSeconds: 366 * 86_400 })
        .default(parseDuration('7d', 'ttl'))
        .describe('How long it can be used.'),
      uses: z.int().min(1).max(1_000).default(1).describe('How often it can be used; a repeated request does not count.'),
      forCmp: z
        .boolean()
        .optional()
        .describe(
          'Lets CMP use it: the appliance then keeps more of it than its hash. Default: `true` where the CA has CMP on and SCEP off, where `false` is refused.',
        ),
    }),
    output: z.object({
      id: z
        .string()
        .meta({ description: 'Identifies it in the list, and to CMP as reference.', example: '1f0c9a52-7d4e-4d0b-9b1e-6f0f5c1f2a77' }),
      secret: z.string().meta({ description: 'The secret, this once.', example: 'KZ3Q8WNT4YH7RFJ2XCV6MBPA' }),
      until: timestampText().describe('When it ends.'),
    }),
    find: findCaOf(context, 'act'),
    complete: (_call, given, ca) => ({ ...given, forCmp: given.forCmp ?? isForCmp(ca) }),
    async run(call, { subject, names, ttl, uses, forCmp }, ca) {
      requireUncounted(call.caller, 'A secret of devices');
      if (ca.record.keyType === undefined) throw noKey(ca);
      if (forCmp === false && isForCmp(ca))
        throw fail('invalid-value', {
          detail:
            'The CA has CMP on and SCEP off: with "for-cmp" false nothing takes the secret. Leave the field out, or set scep/enabled.',
        });
      const identity = { subject, names: names.map(readAlternativeName) };
      const beyondPolicy = requireMayName(call, ca, identity);
      // Before the transaction, which every other change waits for: those that come at the same time may be a few more.
      if (Array.from(context.tables.enrolmentSecrets.keys([ca.tenantId, ca.record.id], { limit: mostSecrets })).length >= mostSecrets)
        throw fail('invalid-value', { detail: `The CA has ${mostSecrets} secrets on record: revoke some that are not needed.` });
      const secret = await drawSecret(context);
      const until = formatTimestamp(call.now.add({ seconds: ttl.seconds }));
      const id = randomUUID();
      const record: EnrolmentSecret = { id, ...identity, beyondPolicy, createdAt: formatTimestamp(call.now), until, uses, usesLeft: uses };
      await context.store.write((transaction) => {
        const { enrolmentSecrets, macSecrets, cas } = context.tables;
        if (transaction.get(cas, [ca.tenantId, ca.record.name])?.id !== ca.record.id) throw fail('not-found');
        transaction.put(enrolmentSecrets, secretKeyOf(ca, secret), record);
        if (forCmp ?? isForCmp(ca)) transaction.put(macSecrets, [ca.tenantId, ca.record.id, id], { secret });
      });
      call.noteAudit({ requestParameters: { id, until, 'beyond-policy': beyondPolicy } });
      return { id, secret, until };
    },
  });
}

/** Tells whether devices can use a secret by CMP alone. */
const isForCmp = ({ record: { cmp, scep } }: FoundCa): boolean => cmp?.enabled === true && scep?.enabled !== true;

/** `DNS:…`, `IP:…`, `email:…` or `URI:…`, as formatAlternativeName writes what a request has. */
export function readAlternativeName(text: string): string {
  const [, kind = '', value = text] = /^(DNS|IP|email|URI):(.*)$/is.exec(text) ?? [];
  const written = kind.toLowerCase();
  if (written === 'email' || written === 'uri') {
    if (!/^[\x21-\x7e]+$/.test(value)) throw fail('invalid-value', { detail: '"names" may have visible characters of ASCII alone.' });
    return `${written === 'uri' ? 'URI' : 'email'}:${value}`;
  }
  if (isIP(value) > 0 && written !== 'dns' && !value.includes('%')) return `IP:${formatIpAddress(parseIpAddress(value))}`;
  const [, wildcard = '', domain = ''] = /^(\*\.)?(.*)$/s.exec(value) ?? [];
  const name = written === 'ip' ? undefined : normaliseDomain(domain);
  if (name === undefined)
    throw fail('invalid-value', { detail: '"names" has host names, IP addresses, and texts that begin with email: or URI:.' });
  return `DNS:${wildcard}${name}`;
}

/**
 * Requires the right to give a device this identity. Returns true for one that the identity policy does not allow, which needs the right to sign
 * freely.
 */
function requireMayName(call: EndpointCall, { record }: FoundCa, identity: Pick<EnrolmentSecret, 'subject' | 'names'>): boolean {
  const path = (action: string) => ['v1', 'state', 'keystore', 'tls', 'ca', record.name, action];
  call.access.requireEffectAt(path('sign-csr'), 'execute', signingFor(record.est));
  const asked = {
    subjectAttributes: readName(requireSubject(identity.subject)),
    alternativeNames: identity.names.map(parseAlternativeName),
  };
  if (findForbiddenName(record.est, asked) === undefined) return false;
  const usages = ['client-auth', 'server-auth'] as const;
  const freely = signing({ csr: anyValue, ttl: parseDuration(record.est.ttl, 'ttl'), usages: [...usages] });
  call.access.requireEffectAt(path('sign-freely'), 'execute', freely);
  return true;
}

export function listEnrolmentSecrets(context: CaContext): AnyEndpoint {
  const path = `${caPath}/enrolment-secrets`;
  return defineEndpoint({
    method: 'GET',
    path,
    summary: 'The one-time secrets of devices, without the secrets',
    description: 'With what each is for, and how often it can still be used. One that has ended is listed for 90 days.',
    tag: caTag,
    usefulWith: withRegistration,
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    query: listQuery,
    nameField: 'id',
    output: z.array(secretFields),
    find: findCaOf(context, 'read'),
    run(call, _input, ca) {
      const all = Array.from(
        context.tables.enrolmentSecrets.entries([ca.tenantId, ca.record.id]),
        ([, secret]) => [secret.id, secret] as const,
      );
      const sorted = all.toSorted(([left], [right]) => (left < right ? -1 : 1));
      return answerList(
        call,
        { path, nameField: 'id' },
        secretFields,
        listOf(sorted),
        (_id, { names, beyondPolicy: _beyond, ...fields }) => ({
          ...fields,
          names: [...names],
        }),
      );
    },
  });
}

export function revokeEnrolmentSecret(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/revoke-enrolment-secret`,
    summary: 'Revoke a one-time secret',
    description: 'At once and for good. Certificates that were issued with it stay valid.',
    tag: caTag,
    usefulWith: withRegistration,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['id'],
    errors: ['built-in'],
    commandLine: { positional: ['id'], ends: 'revokes the secret, which cannot be taken back' },
    input: z.object({ id: idField('secret', 'The CA in the path has it.') }),
    output: z.object({ usesLeft: z.int().describe('How often it could still have been used.') }),
    find: findCaOf(context, 'act'),
    async run(_call, { id }, ca) {
      const { store, tables } = context;
      return store.write((transaction) => {
        for (const [key, secret] of Array.from(transaction.entries(tables.enrolmentSecrets, [ca.tenantId, ca.record.id]))) {
          if (secret.id !== id) continue;
          transaction.delete(tables.enrolmentSecrets, key);
          transaction.delete(tables.macSecrets, [ca.tenantId, ca.record.id, id]);
          return { usesLeft: secret.usesLeft };
        }
        throw fail('not-found', { detail: 'The CA has no secret with this id.' });
      });
    },
  });
}

/** An id from a list of the CA. */
export function idField(what: string, because: string) {
  const text = z.string().regex(/^[0-9a-f-]{8,64}$/, 'must be an id of the list');
  return naming(text, { resource: `${what}s`, needs: [], because }).meta({
    description: `Id of the ${what}, from the list.`,
    example: '1f0c9a52-7d4e-4d0b-9b1e-6f0f5c1f2a77',
  });
}
