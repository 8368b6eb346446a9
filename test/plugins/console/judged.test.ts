// The reach of policies in the console, against the decisions of the appliance: the matrix shows what is allowed, and nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtInPolicies } from '../../../core/access/policy/built-in.ts';
import { needsSystemRoot } from '../../../core/access/reserved.ts';
import type { OpenApiDocument } from '../../../core/http/description/document.ts';
import { fillPath } from '../../../plugins/console/app/address/path.ts';
import { Catalog } from '../../../plugins/console/app/description/catalog.ts';
import {
  coverOf,
  deedsOf,
  differenceOf,
  judgeOf,
  matrixOf,
  reachOf,
  type Difference,
  type Named,
} from '../../../plugins/console/app/views/policies/judged.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/state/keystore/transit-keys';
let appliance: TestAppliance;
let catalog: Catalog;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
  catalog = new Catalog(JSON.parse(JSON.stringify(appliance.app.openapi())) as OpenApiDocument);
});
afterAll(() => appliance.close());

type Rules = NonNullable<NonNullable<Named['policy']['rest-api']>['rules']>;
const named = (name: string, rules: Rules): Named => ({ name, policy: { 'rest-api': { rules } } });
const builtIn = (name: string): Named => named(name, builtInPolicies.get(name)?.restApi.rules ?? []);
const clerk = named('clerk', [
  { path: `${keys}/orders/encrypt`, operations: { execute: 'allow' } },
  { path: '/v1/config/keystore/**', operations: { read: 'allow', all: 'reject' } },
  { path: '/v1/config/keystore/tls/ca/plant', operations: { update: 'allow' } },
  { path: '/v1/state/keystore/authentication/approles/*/generate-secret-id', operations: { execute: 'allow' } },
]);

describe('a decision', () => {
  test.each([
    ['of rules of the tenant', clerk],
    ['of the built-in "user"', builtIn('user')],
    ['of the built-in "app-owner-tenant"', builtIn('app-owner-tenant')],
  ])('%s is that of the appliance, for everything that can be done', async (_, policy) => {
    if (policy === clerk) await appliance.request('POST', '/v1/config/policy/policies', { name: policy.name, ...policy.policy });
    const judge = judgeOf([builtIn('default'), policy]);
    const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: [policy.name] });
    // What the service asks of every caller is no matter of policies.
    const deeds = deedsOf(catalog, [policy]);
    const questions = deeds.map((deed) => ({
      path: fillPath(
        deed.entry.path,
        deed.names.map((name) => name ?? 'any-other'),
      ),
      operation: deed.operation,
    }));
    const wrong: string[] = [];
    for (let at = 0; at < questions.length; at += 200) {
      const some = questions.slice(at, at + 200);
      const answer = await appliance.request('POST', '/v1/state/policy/check-many', { questions: some }, { token: String(body.token) });
      const { decisions } = answer.body as { readonly decisions: readonly { readonly allowed: boolean; readonly why: string }[] };
      for (const [index, { allowed, why }] of decisions.entries()) {
        const deed = deeds[at + index];
        if (deed !== undefined && judge(deed) !== allowed && !why.includes(needsSystemRoot))
          wrong.push(`${some[index]?.operation} ${some[index]?.path}: ${why}`);
      }
    }
    expect(questions.length).toBeGreaterThan(200);
    expect(wrong).toEqual([]);
  });
});

test('a rule about one name is told apart from what is allowed with any name', () => {
  const rows = matrixOf(deedsOf(catalog, [clerk]), judgeOf([clerk]));
  const actions = rows.find(({ thing }) => thing === 'Uses of keys');
  expect(actions?.cells.execute).toMatchObject({ allowed: 0, words: [expect.stringMatching(/^Encrypt .*: orders$/)] });
  expect(rows.map(({ thing }) => thing)).not.toContain('Audit');
});

const same: Difference = { gained: [], lost: [], wider: [], narrower: [], other: [] };
const differ = (before: readonly Named[], after: readonly Named[]): Difference =>
  differenceOf(deedsOf(catalog, [...before, ...after]), reachOf(before), reachOf(after));

test('a difference names what is gained and what is lost, the names of a thing only where they differ from the others', () => {
  const [before, after] = [
    [named('p', [{ path: `${keys}/*/encrypt`, operations: { execute: 'allow' } }])],
    [
      named('p', [
        { path: `${keys}/orders/encrypt`, operations: { execute: 'allow' } },
        { path: `${keys}/*/sign`, operations: { all: 'allow' } },
      ]),
    ],
  ];
  expect(differ(before, after)).toEqual({ ...same, gained: [expect.stringMatching(/^Sign/)], lost: [expect.stringMatching(/^Encrypt/)] });
  expect(differ(before, before)).toEqual(same);
});

test('a difference names what is gained for one name while it is lost for all others', () => {
  const encrypt = (name: string, effect: 'allow' | 'reject') => ({ path: `${keys}/${name}/encrypt`, operations: { execute: effect } });
  const before = [named('p', [encrypt('*', 'allow'), encrypt('orders', 'reject')])];
  const after = [named('p', [encrypt('orders', 'allow')])];
  expect(differ(before, after)).toEqual({
    ...same,
    gained: [expect.stringMatching(/^Encrypt .*: orders$/)],
    lost: [expect.stringMatching(/^Encrypt [^:]*$/)],
  });
});

test('a difference finds the one name that changes among those of as many rules as a policy has', () => {
  const rules = Array.from({ length: 1_000 }, (_, at) => ({ path: `${keys}/k${at}/decrypt`, operations: { execute: 'allow' } as const }));
  const after = rules.with(999, { ...rules[0], path: `${keys}/payroll/decrypt`, operations: { execute: 'allow' } });
  expect(differ([named('p', rules)], [named('p', after)])).toEqual({
    ...same,
    gained: [expect.stringMatching(/: payroll$/)],
    lost: [expect.stringMatching(/: k999$/)],
  });
});

test('a difference names the limits of values and fields that come, go and change', () => {
  const create = (values: readonly unknown[]) => ({ 'allowed-values': { cipher: values } });
  const list = { path: '/v1/config/keystore/transit-keys', operations: { create: 'allow' } } as const;
  const read = { path: `${keys}/*`, operations: { read: 'allow' } } as const;
  const free = [named('p', [list, read])];
  const limited = [
    named('p', [
      { ...list, ...create(['aes256-gcm96']) },
      { ...read, 'hide-fields': ['keys'] },
    ]),
  ];
  const others = [named('p', [{ ...list, ...create(['ed25519']) }, read])];
  const deeds = [expect.stringMatching(/^Create .*\(cipher\)$/), expect.stringMatching(/\(keys\)$/)];
  expect(differ(limited, free)).toEqual({ ...same, wider: deeds });
  expect(differ(free, limited)).toEqual({ ...same, narrower: deeds });
  expect(differ(limited, others)).toEqual({ ...same, wider: deeds.slice(1), other: deeds.slice(0, 1) });
  expect(differ(limited, limited)).toEqual(same);
  // Another policy of a token allows it without limits.
  expect(differ([...limited, ...free], [...free, ...free])).toEqual(same);
});

test.each([
  [`${keys}/orders/encrypt`, /^Encrypt .*: orders\.$/],
  ['/v1/nowhere', /^No operation/],
  ['not a path', /^No operation/],
  ['/**', /and \d[\d,.]* more\.$/],
])('the path %s of a rule covers what is said', (rule, text) => expect(coverOf(catalog, rule)).toMatch(text));
