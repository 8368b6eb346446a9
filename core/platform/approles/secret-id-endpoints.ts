// Actions on the secret-ids of an approle: generate (shown once), list by accessor, disable.
import { z } from 'zod';
import type { Hsm } from '../../../hsm/api.ts';
import { cidrsField } from '../../base/addresses.ts';
import { defined } from '../../base/defined.ts';
import { fail } from '../../base/errors.ts';
import { invalid } from '../../base/texts/invalid.ts';
import { durationField, integer, timestampText } from '../../wire/fields.ts';
import { defineEndpoint, type AnyEndpoint, type EndpointCall } from '../../http/endpoint.ts';
import { naming, type NamedEntry } from '../../http/named-entries.ts';
import { answerList, listOf } from '../../http/resource/list-answer.ts';
import { listQuery } from '../../http/resource/list-query.ts';
import { revealSecret, type Secret } from '../../base/secret.ts';
import type { Store, WriteTransaction } from '../../store/store.ts';
import { parseDuration, type Duration } from '../../base/time.ts';
import { requireFree } from '../../access/policy/granting.ts';
import { makeHandOver, requireRoom } from '../../access/hand-overs.ts';
import { handOverTtl, usualTtl as usualOpenWithin } from '../hand-overs/endpoints.ts';
import { approlePath } from './approle-resource.ts';
import { approleTable, type Approle } from '../../access/approles/approles.ts';
import { disableSecretId, issueSecretId, listSecretIds, type SecretIdRecord } from '../../access/approles/secret-ids.ts';
import type { Act } from '../../approvals/acts.ts';
import { namesApprover } from '../../approvals/rules.ts';
import { makersBy, tokenTable } from '../../access/tokens/record.ts';
import { drawToken } from '../../access/tokens/tokens.ts';
import { tags } from '../../http/tags.ts';

const accessor = z.uuid().describe('Stands for the secret-id where the secret itself must not be seen.');
const creationTime = timestampText().describe('When it was made.');
const expires = timestampText().optional().describe('When it ends; absent: never.');
const usesLeft = z.int().optional().meta({ description: 'How often it can still be used; absent: as often as one likes.', example: 1 });
const boundCidrs = z
  .array(z.string())
  .meta({ description: 'Ranges of addresses it can be used from; empty: from anywhere.', example: ['10.1.0.0/16'] });

const generateInput = z.object({
  ttl: durationField({ minSeconds: 1 })
    .optional()
    .meta({ description: 'How long it can be used; at most, and unless given, as the approle says.', example: '1h' }),
  numUses: integer(0, 1_000_000_000)
    .optional()
    .meta({ description: 'How often it can be used; at most, and unless given, as the approle says.', example: 1 }),
  boundCidrs: cidrsField()
    .default([])
    .meta({ description: 'Ranges of addresses it can be used from, besides those of the approle.', example: ['10.1.0.0/16'] }),
});
const generateOutput = z.object({
  secretId: z.string().meta({ description: 'The secret-id; shown this once.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  accessor,
  creationTime,
  expires,
  usesLeft,
  boundCidrs,
});
type GenerateInput = z.output<typeof generateInput>;
const handOverInput = generateInput.extend({ openWithin: handOverTtl() });
const handOverOutput = generateOutput.omit({ secretId: true }).extend({
  token: z.string().meta({ description: 'Opens the secret-id, once; shown this once.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  handOver: z.uuid().describe('Accessor of the hand-over, by which it is listed and ended.'),
  openBefore: timestampText().describe('When the token ends, opened or not.'),
});
const shown = z.object({ accessor, creationTime, expires, usesLeft, boundCidrs });
const ofTheApprole: NamedEntry = { resource: 'secret-ids', needs: [], because: 'It belongs to the approle in the path.' };
const disableInput = z.object({
  secretId: naming(z.string().max(128), ofTheApprole)
    .optional()
    .meta({ description: 'The secret-id meant.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  accessor: naming(z.string().max(128), ofTheApprole)
    .optional()
    .meta({ description: 'Or its accessor.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
});

const path = `/v1/state/${approlePath}/{name}`;

/** Long because it is a list, of which each entry is read by itself. */
export function secretIdEndpoints({ store, hsm }: { readonly store: Store; readonly hsm: Hsm }): AnyEndpoint[] {
  function find(call: EndpointCall): Approle {
    const approle = approleTable(store).get([call.caller.tenantId, call.params['name'] ?? '']);
    if (approle === undefined) throw fail('not-found', { detail: 'There is no approle of this name.' });
    return approle;
  }
  /** Makes a secret-id, and what goes with it, in one transaction. */
  async function make<T>(
    call: EndpointCall,
    { ttl, numUses, boundCidrs }: GenerateInput,
    approle: Approle,
    makeBeside: (transaction: WriteTransaction, secretId: Secret<string>, record: SecretIdRecord) => T,
  ): Promise<{ readonly secretId: Secret<string>; readonly record: SecretIdRecord; readonly beside: T }> {
    // It logs in from elsewhere, and for longer than the certificate of the caller counts.
    requireFree(call.caller, 'A secret-id');
    const { tenantId, accessor } = call.caller;
    const name = call.params['name'] ?? '';
    const limits = { ttlSeconds: ttlWithin(approle, ttl), numUses: usesWithin(approle, numUses) };
    const secretId = await drawToken(hsm);
    const made = await store.write((transaction) => {
      // The approle may have been replaced by another of this name.
      if (transaction.get(approleTable(store), [tenantId, name])?.id !== approle.id) throw fail('not-found');
      const maker = transaction.get(tokenTable(store), [tenantId, accessor]);
      if (maker === undefined) throw fail('invalid-token');
      const made = { madeBy: { tenantId, accessor }, behind: makersBy(maker) };
      const of = { tenantId, approle: name, approleId: approle.id, ...made };
      const record = issueSecretId(transaction, store, call.now, secretId, { ...of, boundCidrs: [...boundCidrs], ...limits });
      return { record, beside: makeBeside(transaction, secretId, record) };
    });
    const { ttlSeconds, numUses: uses } = limits;
    const ttlText = ttlSeconds === undefined ? undefined : (ttl?.text ?? `${ttlSeconds}s`);
    const limited = { ...defined({ ttl: ttlText, 'num-uses': uses }), 'bound-cidrs': boundCidrs };
    call.noteAudit({ requestParameters: { made: made.record.accessor, ...limited } });
    return { secretId, ...made };
  }
  /** With a secret-id of an approle of approvers its holder approves. */
  const actsOfSecretId = ({ caller }: EndpointCall, _given: unknown, { id }: Approle): readonly Act[] =>
    namesApprover(store, caller.tenantId, id) ? ['change-trust'] : [];
  const shared = { method: 'POST', access: 'token', operation: 'execute', tag: tags.approles, audit: 'required', find } as const;

  return [
    defineEndpoint<GenerateInput, z.output<typeof generateOutput>, Approle>({
      ...shared,
      named: 'GenerateSecretId',
      path: `${path}/generate-secret-id`,
      act: actsOfSecretId,
      summary: 'Make a secret-id',
      description: 'The secret-id is shown this once and kept as a hash. Together with the role-id it logs in (`/v1/approle-login`).',
      input: generateInput,
      output: generateOutput,
      secretOutput: ['secretId'],
      commandLine: { output: 'secretId' },
      errors: ['token-lineage-too-long'],
      auditFields: ['ttl', 'numUses', 'boundCidrs'],
      complete: (_call, given, approle) => ({ ...given, ...limitsOf(given, approle) }),
      async run(call, given, approle) {
        const { secretId, record } = await make(call, given, approle, () => undefined);
        return { secretId: revealSecret(secretId), ...shownOf(record) };
      },
    }),
    defineEndpoint<z.output<typeof handOverInput>, z.output<typeof handOverOutput>, Approle>({
      ...shared,
      named: 'HandOverSecretId',
      path: `${path}/hand-over-secret-id`,
      act: actsOfSecretId,
      judgedAs: { action: 'generate-secret-id' },
      summary: 'Make a secret-id that only its receiver sees',
      description:
        'As `generate-secret-id`, but the answer has a token that opens the secret-id once (`/v1/state/keystore/hand-over/open`). The receiver of a token ' +
        'that was opened before is told when and from where, and the secret-id can be ended by its accessor.',
      input: handOverInput,
      output: handOverOutput,
      secretOutput: ['token'],
      commandLine: { output: 'token' },
      auditFields: ['ttl', 'numUses', 'boundCidrs', 'openWithin'],
      errors: ['hand-overs-full', 'token-lineage-too-long'],
      complete: (_call, given, approle) => ({ ...given, ...limitsOf(given, approle), openWithin: given.openWithin ?? usualOpenWithin }),
      async run(call, { openWithin = usualOpenWithin, ...given }, approle) {
        const { tenantId, user, origin, branch } = call.caller;
        requireRoom(store, call.caller);
        const token = await drawToken(hsm);
        const grant = {
          tenantId,
          user,
          origin,
          branch,
          ttlSeconds: openWithin.seconds,
          purpose: `secret-id of ${call.params['name'] ?? ''}`,
        };
        const { record, beside } = await make(call, given, approle, (transaction, secretId, { accessor }) => {
          const text = JSON.stringify({ 'secret-id': revealSecret(secretId), accessor });
          return makeHandOver(transaction, store, call.now, token, { ...grant, text });
        });
        return { token: revealSecret(token), handOver: beside.accessor, openBefore: beside.expires, ...shownOf(record) };
      },
    }),
    defineEndpoint<z.output<typeof disableInput>, undefined, Approle>({
      ...shared,
      named: 'DisableSecretId',
      path: `${path}/disable-secret-id`,
      act: 'none',
      summary: 'End a secret-id at once',
      description: 'Named by `secret-id` or by `accessor`. Tokens that it was exchanged for go on working until they end.',
      input: disableInput,
      documented: { exampleInput: { accessor: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' } },
      commandLine: { positional: ['accessor'], ends: 'ends the secret-id: programs can no longer log in with it' },
      secretInput: ['secretId'],
      auditFields: ['accessor'],
      async run(call, which, { id }) {
        if ((which.secretId === undefined) === (which.accessor === undefined))
          throw fail('invalid-value', { detail: 'Name the secret-id by "secret-id" or by "accessor".' });
        const ended = await store.write((transaction) => disableSecretId(transaction, store, [call.caller.tenantId, id], which));
        if (ended === undefined) throw fail('not-found', { detail: 'The approle has no such secret-id.' });
        call.noteAudit({ requestParameters: { accessor: ended } });
        return undefined;
      },
    }),
    defineEndpoint<undefined, z.output<typeof shown>[], Approle>({
      ...shared,
      method: 'GET',
      operation: 'read',
      audit: 'reads-go-on',
      named: 'SecretId',
      nameField: 'accessor',
      path: `${path}/secret-ids`,
      summary: 'List the secret-ids of an approle by accessor',
      description: 'Secret-ids that still work, without their values.',
      output: z.array(shown),
      query: listQuery,
      run(call, _, { id }) {
        const all = listSecretIds(store, call.now, call.caller.tenantId, id).map((record) => [record.accessor, record] as const);
        return answerList(call, { path: `${path}/secret-ids`, nameField: 'accessor' }, shown, listOf(all), (_accessor, record) =>
          shownOf(record),
        );
      },
    }),
  ];
}

/** The limits that are asked for or, as usual, those of the approle. */
function limitsOf(given: GenerateInput, { secretIdTtl, secretIdNumUses }: Approle): Pick<GenerateInput, 'ttl' | 'numUses'> {
  const usual = secretIdTtl === undefined ? undefined : parseDuration(secretIdTtl, 'secret-id-ttl');
  return { ttl: given.ttl ?? usual, numUses: given.numUses ?? secretIdNumUses };
}

function shownOf({ accessor, creationTime, expires, usesLeft, boundCidrs }: SecretIdRecord): z.output<typeof shown> {
  return { accessor, creationTime, expires, usesLeft, boundCidrs: [...boundCidrs] };
}

function ttlWithin({ secretIdTtl }: Approle, wanted: Duration | undefined): number | undefined {
  const longest = secretIdTtl === undefined ? undefined : parseDuration(secretIdTtl, 'secret-id-ttl').seconds;
  if (wanted === undefined || longest === undefined || wanted.seconds <= longest) return wanted?.seconds ?? longest;
  throw beyond('ttl', 'secret-id-ttl');
}

function usesWithin({ secretIdNumUses }: Approle, wanted: number | undefined): number {
  if (wanted === undefined || secretIdNumUses === 0 || (wanted > 0 && wanted <= secretIdNumUses)) return wanted ?? secretIdNumUses;
  throw beyond('num-uses', 'secret-id-num-uses');
}

function beyond(field: string, limit: string) {
  return invalid(field, `must be within "${limit}" of the approle`);
}
