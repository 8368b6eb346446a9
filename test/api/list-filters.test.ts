// Every filter of every list says which fields it tells about, and finds nothing of an entry of which one of these is hidden.
import { afterAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { ListFilters } from '../../core/http/resource/resource.ts';
import { shapeOf, toKebab } from '../../core/wire/schema.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
const { routes } = appliance.app;
afterAll(() => appliance.close());

/** What the members of records are called in documents, where that is not their own name. */
const shownAs: Readonly<Record<string, string>> = {
  rotatesAt: 'rotates',
  timers: 'auto-rotate',
  verificationOnly: 'public-key',
  latest: 'latest-version',
  deletesAt: 'deletes',
};
/** Members by which others are found: in no document. */
const keysOfRecords = new Set(['id', 'floor', 'createdAt']);

type Loose = {
  readonly path: string;
  readonly document: z.ZodObject;
  readonly stateFields: z.ZodObject;
  readonly filters?: ListFilters<Readonly<Record<string, unknown>>>;
};
const filtered = routes.flatMap(({ documented }) => {
  const { form, tree, facts } = documented?.resource ?? {};
  if (form !== 'list' || tree !== 'state') return [];
  const resource = facts as unknown as Loose;
  return Object.entries(resource.filters ?? {}).map(([name, filter]) => ({ place: `${resource.path}?${name}`, resource, filter }));
});

test('there are filters, and no list has other parameters than filters, pages, labels and searches that are tested by hand', () => {
  expect(filtered.length).toBeGreaterThan(4);
  const known = new Set(['fields', 'keys', 'count', 'after', 'limit', 'selector', ...filtered.map(({ place }) => place.split('?')[1])]);
  const lists = routes.filter(({ query, method }) => method === 'GET' && query !== undefined && 'limit' in query);
  const others = lists.flatMap(({ path, query }) =>
    Object.keys(query ?? {}).flatMap((name) => (known.has(name) ? [] : [`${path}?${name}`])),
  );
  expect(others).toEqual([
    ...['since', 'before', 'follow', 'who', 'what', 'where', 'result', 'reads'].map((name) => `/v1/state/topics/{topic}?${name}`),
    ...['status', 'public-key'].map((name) => `/v1/state/keystore/tls/ca/{name}/certificates?${name}`),
  ]);
});

describe.each(filtered)('$place', ({ resource, filter }) => {
  test('tells about fields that there are', () => {
    const known = [resource.document, resource.stateFields].flatMap((schema) => {
      const shape = shapeOf(schema);
      return shape.kind === 'object' ? [...shape.byWire.keys()] : [];
    });
    for (const field of filter.tellsAbout) expect(known).toContain(field);
  });

  test('reads nothing of a record but these', () => {
    const read = new Set<string>();
    const values = filter.schema.type === 'boolean' ? ['true', 'false'] : (filter.schema.enum ?? ['a']);
    const call = { caller: { tenantId: 'none' }, now: Temporal.Now.instant() } as never;
    for (const record of [
      { cipher: 'aes256-gcm96' },
      { cipher: 'ed25519', verificationOnly: true },
      { cipher: 'aes256-gcm96', rotatesAt: 0 },
    ])
      for (const value of values) {
        const watched = new Proxy<Record<string, unknown>>(
          { id: 'none', latest: 1, floor: 1, createdAt: 0, ...record },
          {
            get: (target, name) => {
              read.add(String(name));
              return target[String(name)];
            },
          },
        );
        if ('fits' in filter) filter.fits({ name: 'a', record: watched }, value, call);
      }
    const told = [...read].filter((member) => !keysOfRecords.has(member)).map((member) => shownAs[member] ?? toKebab(member));
    expect(told.filter((field) => !filter.tellsAbout.includes(field))).toEqual([]);
  });
});

test.each(
  filtered.flatMap(({ place, resource, filter }) => {
    const values = filter.schema.type === 'boolean' ? ['true', 'false'] : (filter.schema.enum ?? []);
    return filter.tellsAbout.map((field) => ({
      place,
      path: resource.path,
      field,
      queries: values.map((value) => `${place.split('?')[1]}=${value}`),
    }));
  }),
)('$place finds nothing where $field is hidden, in either list', async ({ path, field, queries }) => {
  await appliance.request('POST', `/v1/config/${path}`, { name: 'one' });
  const policy = `no-${field}`;
  const rules = ['config', 'state'].map((tree) => ({
    path: `/v1/${tree}/${path}/**`,
    operations: { read: 'allow' },
    'hide-fields': [field],
  }));
  await appliance.request('POST', '/v1/config/policy/policies', { name: policy, 'rest-api': { rules } });
  const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: [policy] });
  const found = async (as: { token?: string }) => {
    const lists = ['config', 'state'].flatMap((tree) => queries.map((query) => `/v1/${tree}/${path}?keys=true&${query}`));
    const answers = await Promise.all(lists.map(async (list) => (await appliance.request('GET', list, undefined, as)).body as string[]));
    return answers.flat();
  };
  expect(await found({ token: String(body.token) })).toEqual([]);
  expect(await found({})).toContain('one');
});
