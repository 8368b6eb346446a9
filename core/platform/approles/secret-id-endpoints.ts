// Actions on the secret-ids of an approle: generate (shown once), list by accessor, disable.
import { z } from 'zod';
import type { Hsm } from '../../../hsm/api.ts';
import { cidrsField } from '../../base/addresses.ts';
import { defined } from '../../base/defined.ts';
import { fail } from '../../base/errors.ts';
import { durationField, integer, timestampText } from '../../wire/fields.ts';
import { defineEndpoint, type AnyEndpoint, type EndpointCall } from '../../http/endpoint.ts';
import { naming, type NamedEntry } from '../../http/named-entries.ts';
import { answerList, listOf } from '../../http/resource/list-answer.ts';
import { listQuery } from '../../http/resource/list-query.ts';
import { revealSecret } from '../../base/secret.ts';
import type { Store } from '../../store/store.ts';
import { parseDuration, type Duration } from '../../base/time.ts';
import { approlePath } from './approle-resource.ts';
import { approleTable, type Approle } from '../../access/approles/approles.ts';
import { disableSecretId, issueSecretId, listSecretIds, type SecretIdRecord } from '../../access/approles/secret-ids.ts';
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
  const shared = { method: 'POST', access: 'token', operation: 'execute', tag: tags.approles, audit: 'required', find } as const;

  return [
    defineEndpoint<z.output<typeof generateInput>, z.output<typeof generateOutput>, Approle>({
      ...shared,
      named: 'GenerateSecretId',
      path: `${path}/generate-secret-id`,
      summary: 'Make a secret-id',
      description: 'The secret-id is shown this once and kept as a hash. Together with the role-id it logs in (`/v1/approle-login`).',
      input: generateInput,
      output: generateOutput,
      secretOutput: ['secretId'],
      commandLine: { output: 'secretId' },
      auditFields: ['ttl', 'numUses', 'boundCidrs'],
      complete: (_call, given, { secretIdTtl, secretIdNumUses }) => ({
        ...given,
        ttl: given.ttl ?? (secretIdTtl === undefined ? undefined : parseDuration(secretIdTtl, 'secret-id-ttl')),
        numUses: given.numUses ?? secretIdNumUses,
      }),
      async run(call, { ttl, numUses, boundCidrs }, approle) {
        const { tenantId, accessor } = call.caller;
        const name = call.params['name'] ?? '';
        const limits = { ttlSeconds: ttlWithin(approle, ttl), numUses: usesWithin(approle, numUses) };
        const secretId = await drawToken(hsm);
        const record = await store.write((transaction) => {
          // The approle may have been replaced by another of this name.
          if (transaction.get(approleTable(store), [tenantId, name])?.id !== approle.id) throw fail('not-found');
          const grant = {
            tenantId,
            approle: name,
            approleId: approle.id,
            boundCidrs: [...boundCidrs],
            madeBy: { tenantId, accessor },
            ...limits,
          };
          return issueSecretId(transaction, store, call.now, secretId, grant);
        });
        const { ttlSeconds, numUses: uses } = limits;
        const ttlText = ttlSeconds === undefined ? undefined : (ttl?.text ?? `${ttlSeconds}s`);
        const requestParameters = { made: record.accessor, ...defined({ ttl: ttlText, 'num-uses': uses }), 'bound-cidrs': boundCidrs };
        call.noteAudit({ requestParameters });
        return { secretId: revealSecret(secretId), ...shownOf(record) };
      },
    }),
    defineEndpoint<z.output<typeof disableInput>, undefined, Approle>({
      ...shared,
      named: 'DisableSecretId',
      path: `${path}/disable-secret-id`,
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
  const rule = `must be within "${limit}" of the approle`;
  return fail('invalid-value', { detail: `"${field}" ${rule}.`, items: [{ message: rule, info: field }] });
}
