// A small plugin that has one of everything the platform offers: a resource with every kind of field, and endpoints that misbehave.
import { z } from 'zod';
import { HsmError } from '../../hsm/api.ts';
import { errorsOf, fail, type ErrorTable } from '../../core/base/errors.ts';
import { base64Field, durationText, integer, orderedList, timestamp } from '../../core/wire/fields.ts';
import { Reply, defineEndpoint, definePublicEndpoint, type AnyEndpoint } from '../../core/http/endpoint.ts';
import { defineResource, type AnyResource } from '../../core/http/resource/resource.ts';
import type { CoreParts } from './core-app.ts';

const thingErrors = {
  'thing-broken': { status: 409, title: 'Thing broken', when: 'a thing is broken', detail: 'Mend the thing.' },
  'decryption-failed': { status: 400, title: 'Decryption failed', when: 'something does not open', detail: 'Use the right key.' },
} as const satisfies ErrorTable;
const failThing = errorsOf(thingErrors);

const document = z.object({
  color: z.enum(['red', 'green', 'blue']).default('red'),
  exportable: z.boolean().default(false),
  shape: z.string().max(64).default('round'),
  tags: z.array(z.string().max(64)).default([]),
  steps: orderedList(z.string().max(64)).default([]),
  marks: z.record(z.string(), z.string()).default({}),
  autoRotate: z.object({ rotateAfter: durationText({ minSeconds: 3_600 }), activateAfter: durationText().optional() }).optional(),
  vault: z.object({ enabled: z.boolean().default(false), pinCode: z.string().max(64).optional() }).prefault({}),
  clientSecret: z.string().max(64).optional(),
});
export type ThingDocument = z.output<typeof document>;
export type Thing = ThingDocument & { readonly creationTime: string; readonly serial: string };

/** What happened to things, for tests that look at how a change is carried out. */
export type ThingEvents = { prepared: number; discarded: number; removed: string[]; beforeCommit: (() => Promise<void>) | undefined };

export function things({ store, clock, hsm }: CoreParts): {
  resources: readonly AnyResource[];
  endpoints: readonly AnyEndpoint[];
  errors: ErrorTable;
  events: ThingEvents;
} {
  const table = store.table<Thing>('things');
  const parts = store.table<{ readonly size: number }>('parts');
  const events: ThingEvents = { prepared: 0, discarded: 0, removed: [], beforeCommit: undefined };

  const thing = defineResource<ThingDocument, Thing, string>({
    path: 'things',
    tag: { name: 'things', description: 'Of tests.' },
    noun: 'thing',
    nameField: 'name',
    scope: 'tenant',
    table,
    document,
    stateFields: z.object({ serial: z.string(), creationTime: z.string(), vault: z.object({ shelves: z.int() }) }),
    creationFields: ['shape'],
    oneWayFields: ['exportable'],
    secretFields: ['clientSecret', 'vault.pinCode'],
    notRemovableByMerge: ['autoRotate'],
    errors: ['thing-broken'],
    plan({ document: wanted, current }) {
      if (wanted.color === 'blue' && wanted.tags.includes('broken')) throw failThing('thing-broken');
      return {
        async prepare() {
          events.prepared++;
          await events.beforeCommit?.();
          return (await hsm.random(4)).toHex();
        },
        commit: (_transaction, serial) => ({
          ...wanted,
          serial: current?.serial ?? serial,
          creationTime: current?.creationTime ?? clock.now().toString(),
        }),
        async discard() {
          events.discarded++;
        },
      };
    },
    planRemoval(_call, [name = ''], current) {
      if (current.tags.includes('kept')) throw fail('in-use', { detail: 'The thing is kept.' });
      return { after: async () => void events.removed.push(name) };
    },
    toDocument({ serial: _serial, creationTime: _creationTime, ...rest }) {
      return rest;
    },
    toState: ({ serial, creationTime }) => ({ serial, creationTime, vault: { shelves: 2 } }),
  });

  const part = defineResource<{ size: number }, { readonly size: number }>({
    path: 'things/{thing}/parts',
    tag: { name: 'things', description: 'Of tests.' },
    noun: 'part',
    nameField: 'name',
    namePattern: /^[^\p{Cc}]+$/u,
    scope: 'tenant',
    table: parts,
    document: z.object({ size: integer(0, 100) }),
    stateFields: z.object({}),
    parentExists: (call, [name = '']) => table.has([call.caller.tenantId, name]),
    plan: ({ document: wanted }) => ({ commit: () => ({ size: wanted.size }) }),
    toDocument: ({ size }) => ({ size }),
    toState: () => ({}),
  });

  const octetsOut = z.custom<Uint8Array>((value) => value instanceof Uint8Array).meta({ type: 'string', contentEncoding: 'base64' });
  const shared = { method: 'POST', access: 'token', operation: 'execute', tag: { name: 'things', description: 'Of tests.' } } as const;
  const endpoints = [
    defineEndpoint({
      ...shared,
      path: '/v1/state/things/{name}/seal-up',
      summary: 'Answer with what was sent',
      audit: 'required',
      input: z.object({ payload: base64Field(), keyVersion: integer(1, 9).optional(), note: z.string().optional() }),
      output: z.object({ payload: octetsOut, keyVersion: z.int(), sealedAt: timestamp() }),
      auditFields: ['note'],
      secretInput: ['payload'],
      secretOutput: ['payload'],
      errors: ['not-found'],
      find(call): Thing {
        const found = table.get([call.caller.tenantId, call.params['name'] ?? '']);
        if (found === undefined) throw fail('not-found');
        return found;
      },
      run(call, { payload, keyVersion = 1 }) {
        call.noteAudit({ keyVersion });
        return { payload, keyVersion, sealedAt: call.now };
      },
    }),
    defineEndpoint({
      ...shared,
      path: '/v1/state/misbehave',
      summary: 'Fail as asked',
      audit: 'required',
      input: z.object({ how: z.enum(['throw', 'reject', 'hsm-down', 'tampered', 'odd']) }),
      run(_, { how }): undefined {
        if (how === 'throw') throw new TypeError('thrown on purpose');
        if (how === 'hsm-down') throw new HsmError('unavailable', 'the token is away', { rv: 0xe0, fn: 'C_Sign' });
        if (how === 'tampered') throw new HsmError('decryption-failed', 'tag');
        if (how === 'odd') throw Object.assign(new Error('quotes S3CRET'), { code: 'EODD' });
        return Promise.reject(new RangeError('rejected on purpose')) as never;
      },
    }),
    defineEndpoint<undefined, undefined>({
      ...shared,
      path: '/v1/state/poke',
      summary: 'Do nothing',
      audit: 'required',
      run: () => undefined,
    }),
    defineEndpoint<undefined, Reply>({
      ...shared,
      method: 'GET',
      operation: 'read',
      path: '/v1/state/stream',
      summary: 'Answer in pieces',
      audit: 'reads-go-on',
      produces: 'application/x-ndjson',
      query: { count: 'how many' },
      run: (call) => new Reply(200, pieces(Number(call.query.get('count') ?? 3)), { 'content-type': 'application/x-ndjson' }),
    }),
    definePublicEndpoint<Record<string, string>, Reply>({
      method: 'POST',
      path: '/form',
      summary: 'A form of a page',
      tag: { name: 'pages', description: 'Of tests.' },
      access: 'public',
      audit: 'required',
      consumes: 'application/x-www-form-urlencoded',
      page: true,
      run(call, form) {
        if (form['word'] !== 'please') throw fail('login-failed');
        call.noteAudit({ kind: 'login', user: 'someone', tenant: 'somewhere' });
        return new Reply(200, '<p>Welcome</p>', { 'content-type': 'text/html; charset=utf-8', 'set-cookie': ['a=1', 'b=2'] });
      },
    }),
    definePublicEndpoint<Uint8Array, Reply>({
      method: 'POST',
      path: '/octets',
      summary: 'Octets in, octets out',
      tag: { name: 'pages', description: 'Of tests.' },
      access: 'public',
      audit: 'none',
      consumes: 'application/ocsp-request',
      produces: 'application/ocsp-response',
      bodyLimit: 16,
      run: (_, body) => new Reply(200, body.toReversed(), { 'content-type': 'application/ocsp-response' }),
    }),
    definePublicEndpoint<undefined, Reply>({
      method: 'GET',
      path: '/callback',
      summary: 'A GET with an effect',
      tag: { name: 'pages', description: 'Of tests.' },
      access: 'public',
      audit: 'required',
      anyQuery: true,
      noHead: true,
      run: (call) => new Reply(200, call.rawQuery, { 'content-type': 'text/plain' }),
    }),
  ];
  return { resources: [thing, part], endpoints, errors: thingErrors, events };
}

async function* pieces(count: number): AsyncGenerator<string> {
  for (let piece = 1; piece <= count; piece++) yield `{"piece":${piece}}\n`;
}
