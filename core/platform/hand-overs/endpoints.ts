// Hand-overs: made, renewed, listed and ended; opened once, with their token alone, because the receiver may have no other yet.
import { z } from 'zod';
import type { Hsm } from '../../../hsm/api.ts';
import { fail } from '../../base/errors.ts';
import { revealSecret, type Secret } from '../../base/secret.ts';
import { formatTimestamp, parseDuration } from '../../base/time.ts';
import {
  endHandOver,
  findHandOver,
  type HandOver,
  listHandOvers,
  longestSeconds,
  makeHandOver,
  mostOctets,
  mostTokens,
  openHandOver,
  renewHandOver,
  replacementOf,
  requireRoom,
} from '../../access/hand-overs.ts';
import type { Tenants } from '../../access/tenants.ts';
import { drawToken } from '../../access/tokens/tokens.ts';
import { type AnyEndpoint, defineEndpoint, definePublicEndpoint, type PublicCall } from '../../http/endpoint.ts';
import { naming } from '../../http/named-entries.ts';
import { answerList } from '../../http/resource/list-answer.ts';
import { listQuery } from '../../http/resource/list-query.ts';
import { tags } from '../../http/tags.ts';
import type { Store } from '../../store/store.ts';
import { durationField, timestampText } from '../../wire/fields.ts';

const base = '/v1/state/keystore/hand-over';
const listPath = '/v1/state/keystore/hand-overs';
export const usualTtl = parseDuration('10m', 'ttl');

const accessor = z.uuid().describe('Stands for the hand-over where its token must not be seen.');
const example = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
const token = z.string().max(128).meta({ description: 'The token of the hand-over.', example });
const creationTime = timestampText().describe('When it was made.');
const expires = timestampText().describe('When it ends, opened or not.');
const purpose = z.string().optional().meta({ description: 'What it is for, as its maker says.', example: 'secret-id of build-server' });
const opened = timestampText().optional().describe('When it was opened; absent: it still waits.');
const via = z.string().optional().meta({ description: 'Protocol by which it was made; absent: this API.', example: 'vault' });
const openedFrom = z.string().optional().meta({ description: 'Address of the one who opened it.', example: '10.1.2.3' });

/** Field for the time that a hand-over waits, for the inputs of those that make one. */
export const handOverTtl = () =>
  durationField({ minSeconds: 1, maxSeconds: longestSeconds })
    .optional()
    .meta({ description: 'How long it waits to be opened; at most 7d, default 10m.', example: '10m' });

const madeOutput = z.object({
  token: z.string().meta({ description: 'Opens it, once; shown this once.', example }),
  accessor,
  creationTime,
  expires,
});
const state = z.object({
  accessor,
  purpose,
  via,
  user: z.string().meta({ description: 'Who made it.', example: 'root' }),
  creationTime,
  expires,
  opened,
  openedFrom,
});
const told = state
  .omit({ user: true })
  .extend({ tenant: z.string().meta({ description: 'Tenant whose caller made it.', example: 'system' }) });

const text = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= mostOctets, { error: `must be at most ${mostOctets} octets in UTF-8` })
  .meta({ description: `What to hand over, at most ${mostOctets} octets.`, example: 'correct horse battery staple' });
const createInput = z.object({
  text,
  ttl: handOverTtl(),
  purpose: z
    .string()
    .max(256)
    .optional()
    .meta({ description: 'What it is for; those who have the token are told.', example: 'password of db' }),
});
type CreateInput = z.output<typeof createInput>;
const whichInput = z.object({ token });
const endInput = z.object({
  accessor: naming(z.string().max(128), { resource: 'hand-overs', needs: [], because: 'The operation is about it alone.' }).meta({
    description: 'Accessor of the hand-over.',
    example,
  }),
});

type Parts = { readonly store: Store; readonly hsm: Hsm; readonly tenants: Tenants };

/** Long because it is a list, of which each entry is read by itself. */
export function handOverEndpoints({ store, hsm, tenants }: Parts): AnyEndpoint[] {
  const shared = { method: 'POST', tag: tags.handOvers, audit: 'required' } as const;
  const forAll = { ...shared, access: 'public', errors: ['not-found', 'hand-over-opened', 'hand-over-replaced'] } as const;

  /** The hand-over of a token in the snapshot; the record of the request names it, so that its tenant sees who tried. */
  function find(call: PublicCall, sent: string): HandOver {
    const found = findHandOver((table, key) => table.get(key), store, call.now, sent);
    if (found === undefined) throw unknown();
    const tenant = tenants.findByUuid(found.tenantId)?.name;
    if (tenant !== undefined) call.noteAudit({ tenant });
    call.noteAudit({ requestParameters: { 'hand-over': found.accessor } });
    requireInUse(found, sent);
    return found;
  }

  /** As find, for one that waits, inside the transaction that changes it. */
  function change<T>(call: PublicCall, sent: string, act: (...args: Parameters<Parameters<Store['write']>[0]>) => (record: HandOver) => T) {
    requireWaiting(find(call, sent));
    return store.write((transaction) => {
      const record = findHandOver((table, key) => transaction.get(table, key), store, call.now, sent);
      if (record === undefined) throw unknown();
      requireInUse(record, sent);
      return act(transaction)(record);
    });
  }

  return [
    defineEndpoint<CreateInput, z.output<typeof madeOutput>>({
      ...shared,
      access: 'token',
      operation: 'execute',
      path: `${base}/create`,
      act: 'none',
      summary: 'Make a hand-over: a text that opens once',
      description:
        'The text waits sealed in the store. A caller who has the token opens it without any other, once; a second attempt is refused, and says when ' +
        'it was opened, and from where: then somebody else has read it. It outlives the token that made it.',
      input: createInput,
      output: madeOutput,
      secretInput: ['text'],
      secretOutput: ['token'],
      auditFields: ['ttl', 'purpose'],
      errors: ['hand-overs-full'],
      commandLine: { input: 'text', output: 'token' },
      complete: (_call, given) => ({ ...given, ttl: given.ttl ?? usualTtl }),
      async run({ caller, now, via: protocol }, { text, ttl = usualTtl, purpose }) {
        const { tenantId, user, origin, branch } = caller;
        requireRoom(store, caller);
        const drawn = await drawToken(hsm);
        const grant = { tenantId, user, origin, branch, ttlSeconds: ttl.seconds, purpose, via: protocol, text };
        return madeOf(drawn, await store.write((transaction) => makeHandOver(transaction, store, now, drawn, grant)));
      },
    }),
    definePublicEndpoint<z.output<typeof whichInput>, { readonly text: string }>({
      ...forAll,
      path: `${base}/open`,
      summary: 'Open a hand-over',
      description: 'Its token is all that is needed, and works once. From then on the hand-over tells when it was opened, and from where.',
      input: whichInput,
      output: z.object({ text: z.string().meta({ description: 'What was handed over.', example: 'correct horse battery staple' }) }),
      secretInput: ['token'],
      secretOutput: ['text'],
      commandLine: { positional: ['token'], output: 'text' },
      run: (call, { token: sent }) =>
        change(call, sent, (transaction) => (record) => {
          const text = openHandOver(transaction, store, record, { time: formatTimestamp(call.now), address: call.clientIp });
          if (text === undefined) throw openedBefore(record);
          return { text };
        }),
    }),
    definePublicEndpoint<z.output<typeof whichInput>, z.output<typeof told>>({
      ...shared,
      access: 'public',
      audit: 'reads-go-on',
      idempotent: true,
      named: 'HandOverInfo',
      path: `${base}/info`,
      summary: 'What a hand-over is, without opening it',
      description: 'For callers who have its token: when it was opened, and from where, if it was.',
      input: whichInput,
      output: told,
      secretInput: ['token'],
      errors: ['not-found', 'hand-over-replaced'],
      run(call, { token: sent }) {
        const record = find(call, sent);
        const { user: _, ...shown } = stateOf(record);
        return { ...shown, tenant: tenants.findByUuid(record.tenantId)?.name ?? '' };
      },
    }),
    definePublicEndpoint<z.output<typeof whichInput>, z.output<typeof madeOutput>>({
      ...forAll,
      path: `${base}/renew`,
      summary: 'Give a hand-over that waits another token',
      description:
        'The former token opens nothing, and says when another one was asked for, and from where. Its life begins again, up to 7d from its creation. ' +
        `What it holds stays unread. It has ${mostTokens} tokens at most.`,
      errors: [...forAll.errors, 'hand-overs-full'],
      input: whichInput,
      output: madeOutput,
      secretInput: ['token'],
      secretOutput: ['token'],
      commandLine: { output: 'token' },
      async run(call, { token: sent }) {
        requireWaiting(find(call, sent));
        const drawn = await drawToken(hsm);
        return change(call, sent, (transaction) => (record) => {
          requireWaiting(record);
          return madeOf(drawn, renewHandOver(transaction, store, { now: call.now, address: call.clientIp }, record, drawn));
        });
      },
    }),
    defineEndpoint<z.output<typeof endInput>, undefined>({
      ...shared,
      access: 'token',
      operation: 'execute',
      path: `${base}/disable`,
      act: 'none',
      summary: 'End a hand-over at once',
      description: 'Named by its accessor. Its token opens nothing from then on.',
      input: endInput,
      auditFields: ['accessor'],
      errors: ['not-found'],
      commandLine: { positional: ['accessor'], ends: 'ends the hand-over: nobody can open it' },
      async run({ caller }, { accessor: named }) {
        const ended = await store.write((transaction) => endHandOver(transaction, store, caller.tenantId, named));
        if (!ended) throw fail('not-found', { detail: 'The tenant has no such hand-over.' });
        return undefined;
      },
    }),
    defineEndpoint<undefined, unknown>({
      ...shared,
      method: 'GET',
      access: 'token',
      operation: 'read',
      audit: 'reads-go-on',
      named: 'HandOver',
      nameField: 'accessor',
      path: listPath,
      summary: 'List the hand-overs of the tenant by accessor',
      description: 'Those that have not ended: waiting, or opened, with when and from where.',
      output: z.array(state),
      query: listQuery,
      run(call) {
        const entries = (after?: string): Iterable<readonly [string, HandOver]> =>
          listHandOvers(store, call.now, call.caller.tenantId, after);
        const count = (): number => Iterator.from(entries()).reduce((total) => total + 1, 0);
        return answerList(call, { path: listPath, nameField: 'accessor' }, state, { entries, count }, (_accessor, record) =>
          stateOf(record),
        );
      },
    }),
  ];
}

function unknown(): Error {
  return fail('not-found', { detail: 'There is no such hand-over: it has ended, or never existed.' });
}

/** Throws `hand-over-replaced`: also once it was opened, so that nobody hides that by another token. */
function requireInUse(record: HandOver, token: string): void {
  const { time, address } = replacementOf(record, token) ?? {};
  if (time === undefined) return;
  const { opened } = record;
  const later = opened === undefined ? '' : ` What it held was opened at ${opened.time} from ${opened.address}.`;
  throw fail('hand-over-replaced', {
    detail: `Another token was asked for in place of this one at ${time} from ${address}.${later} If that was not meant, have what it held changed.`,
  });
}

function requireWaiting(record: HandOver): void {
  if (record.opened !== undefined) throw openedBefore(record);
}

function openedBefore({ opened }: HandOver): Error {
  const how = opened === undefined ? '' : ` at ${opened.time} from ${opened.address}`;
  return fail('hand-over-opened', {
    detail: `This was opened${how}. If that was not you, what it held is known to somebody else: have it changed.`,
  });
}

/** Answer for a new hand-over, or a new token of one. */
function madeOf(drawn: Secret<string>, { accessor, creationTime, expires }: HandOver): z.output<typeof madeOutput> {
  return { token: revealSecret(drawn), accessor, creationTime, expires };
}

function stateOf({ accessor, purpose, via: protocol, user, creationTime, expires, opened }: HandOver): z.output<typeof state> {
  return { accessor, purpose, via: protocol, user, creationTime, expires, opened: opened?.time, openedFrom: opened?.address };
}
