// The policy engine against a slow model, and its rules one by one.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtInPolicies } from '../../../core/access/policy/built-in.ts';
import { requireAllowedValues, withoutHidden } from '../../../core/access/policy/constraints.ts';
import { hasConstraints } from '../../../core/access/policy/limits.ts';
import { compilePolicy, decide } from '../../../core/access/policy/engine.ts';
import { operations, readPattern, type PolicyOperation } from '../../../core/access/policy/patterns.ts';
import { policyDocument, type Policy, type PolicyRule } from '../../../core/access/policy/policy.ts';

type Effects = PolicyRule['operations'];
const rule = (path: string, effects: Effects, rest: Partial<PolicyRule> = {}): PolicyRule => ({
  path,
  operations: effects,
  allowedValues: {},
  hideFields: [],
  ...rest,
});
const policy = (name: string, ...rules: PolicyRule[]): Policy => ({ name, description: '', restApi: { rules } });
const segmentsOf = (path: string) => path.slice(1).split('/');
const verdict = (policies: readonly Policy[], path: string, operation: PolicyOperation) =>
  decide(policies.map(compilePolicy), segmentsOf(path), operation);
const allows = (policies: readonly Policy[], path: string, operation: PolicyOperation) => verdict(policies, path, operation).allowed;

describe('decide', () => {
  test('refuses by default, and says that no rule spoke', () => {
    expect(verdict([], '/a', 'read')).toEqual({ allowed: false, grants: [] });
    expect(verdict([policy('p', rule('/a', { read: 'allow' }))], '/a', 'update')).toEqual({ allowed: false, grants: [] });
  });

  test.each([
    ['a literal beats *', '/a/*', '/a/b', '/a/b'],
    ['* beats **', '/a/**', '/a/*', '/a/b'],
    ['a literal early beats a literal late', '/*/b', '/a/*', '/a/b'],
    ['the longer of two that agree wins', '/a/**', '/a/b/**', '/a/b/c'],
    ['a path that ends beats **', '/a/**', '/a', '/a'],
    ['* late beats ** late', '/a/b/**', '/a/b/*', '/a/b/c'],
  ])('%s', (_, weak, strong, path) => {
    for (const [first, second] of [
      [rule(weak, { read: 'reject' }), rule(strong, { read: 'allow' })],
      [rule(strong, { read: 'allow' }), rule(weak, { read: 'reject' })],
    ] as const) {
      expect(verdict([policy('p', first, second)], path, 'read')).toMatchObject({ allowed: true, rule: strong });
      expect(verdict([policy('p', first), policy('q', second)], path, 'read')).toMatchObject({ allowed: true, rule: strong });
    }
    expect(
      verdict([policy('p', rule(weak, { read: 'allow' })), policy('q', rule(strong, { read: 'reject' }))], path, 'read'),
    ).toMatchObject({
      allowed: false,
      policy: 'q',
      rule: strong,
    });
  });

  test('of equally specific rules one that allows is enough, in one policy and across several', () => {
    const allow = rule('/a/*', { read: 'allow' });
    const reject = rule('/a/*', { read: 'reject' });
    expect(allows([policy('p', reject, allow)], '/a/b', 'read')).toBe(true);
    expect(verdict([policy('p', reject), policy('q', allow)], '/a/b', 'read')).toMatchObject({ allowed: true, policy: 'q' });
    expect(verdict([policy('q', allow), policy('p', reject)], '/a/b', 'read')).toMatchObject({ allowed: true, policy: 'q' });
  });

  test("a rule's word for the operation beats its all", () => {
    const one = [policy('p', rule('/a', { all: 'allow', delete: 'reject' }))];
    expect(operations.map((operation) => allows(one, '/a', operation))).toEqual([true, true, true, false, true]);
  });

  test('a more specific rule that is silent on the operation leaves it to the next', () => {
    expect(allows([policy('p', rule('/a/**', { all: 'allow' }), rule('/a/b', { read: 'reject' }))], '/a/b', 'update')).toBe(true);
  });

  test('** stands for any rest, also none, so a refusal of what is below a list covers the list (peers hole 6)', () => {
    const one = [policy('p', rule('/**', { all: 'allow' }), rule('/v1/tenants/**', { all: 'reject' }))];
    expect(['/v1/tenants', '/v1/tenants/a', '/v1/tenants/a/b'].map((path) => allows(one, path, 'read'))).toEqual([false, false, false]);
    expect(allows(one, '/v1/tenantsx', 'read')).toBe(true);
  });

  test('case counts in paths', () => {
    expect(allows([policy('p', rule('/v1/Root', { all: 'allow' }))], '/v1/root', 'read')).toBe(false);
  });

  test('a star in a request is a name, never a pattern; a percent-encoded star in a rule is that name', () => {
    expect(decide([compilePolicy(policy('p', rule('/a/b', { all: 'allow' })))], ['a', '*'], 'read').allowed).toBe(false);
    expect(decide([compilePolicy(policy('p', rule('/a/b', { all: 'allow' })))], ['a', '**'], 'read').allowed).toBe(false);
    const starred = compilePolicy(policy('p', rule('/a/%2A', { all: 'allow' })));
    expect([decide([starred], ['a', '*'], 'read').allowed, decide([starred], ['a', 'b'], 'read').allowed]).toEqual([true, false]);
  });

  test('a slash inside a name is not a separator', () => {
    expect(decide([compilePolicy(policy('p', rule('/a/*', { all: 'allow' })))], ['a', 'b/c'], 'read').allowed).toBe(true);
    expect(decide([compilePolicy(policy('p', rule('/a/b/c', { all: 'allow' })))], ['a', 'b/c'], 'read').allowed).toBe(false);
  });

  test('agrees with the model for any rules and paths', () => {
    const part = fc.constantFrom('a', 'b', '*');
    const path = fc
      .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([parts, rest]) => `/${[...parts, ...(rest ? ['**'] : [])].join('/')}`);
    const effect = fc.constantFrom('allow', 'reject');
    const effects = fc.record({ all: effect, read: effect, update: effect }, { requiredKeys: [] });
    const rules = fc.array(fc.tuple(path, effects), { maxLength: 6 }).map((list) => list.map(([where, what]) => rule(where, what)));
    const request = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        fc.array(rules, { maxLength: 3 }),
        request,
        fc.constantFrom<PolicyOperation>('read', 'update', 'delete'),
        (lists, segments, operation) => {
          const policies = lists.map((list, index) => policy(`p${index}`, ...list));
          expect(decide(policies.map(compilePolicy), segments, operation).allowed).toBe(model(lists.flat(), segments, operation));
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

/** The rules' definition, word by word: match all, keep the best, one that allows is enough. */
function model(rules: readonly PolicyRule[], segments: readonly string[], operation: PolicyOperation): boolean {
  const stated = rules.flatMap(({ path, operations: effects }) => {
    const effect = effects[operation] ?? effects.all;
    const parts = segmentsOf(path);
    const rest = parts.at(-1) === '**';
    const fixed = rest ? parts.slice(0, -1) : parts;
    const fits =
      (rest ? segments.length >= fixed.length : segments.length === fixed.length) &&
      fixed.every((part, at) => part === '*' || part === segments[at]);
    return effect !== undefined && fits ? [{ effect, rank: [...fixed.map((part) => (part === '*' ? 2 : 3)), rest ? 1 : 4] }] : [];
  });
  const best = stated.reduce<readonly number[]>((top, { rank }) => (compare(rank, top) > 0 ? rank : top), []);
  return stated.some(({ effect, rank }) => effect === 'allow' && compare(rank, best) === 0);
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

describe('readPattern', () => {
  test.each([
    'a',
    '',
    '//',
    '/a//b',
    '/a/',
    '/a/../b',
    '/a/**/b',
    '/a/b*',
    '/*a',
    '/***',
    '/%zz',
    '/a/%2e%2e/b',
    '/%2E',
    '/a%00b',
    '/a/%0a',
    '/a?b',
    '/a#b',
    `/${'a/'.repeat(30)}a`,
  ])('refuses %j', (path) => {
    expect(readPattern(path)).toBeUndefined();
    expect(policyDocument.safeParse({ restApi: { rules: [{ path, operations: { all: 'allow' } }] } }).success).toBe(false);
  });
});

const allowedBy = (name: string, path: string, operation: PolicyOperation = 'execute') =>
  allows([builtInPolicies.get(name) as Policy], path, operation);

describe('built-in policies', () => {
  const key = '/v1/state/keystore/transit-keys/k';

  test('every one is a valid document', () => {
    for (const { description, restApi } of builtInPolicies.values())
      expect(policyDocument.parse({ description, restApi })).toEqual({ description, restApi });
  });

  test('rewrap-only: rewrap and nothing else', () => {
    expect(allowedBy('rewrap-only', `${key}/rewrap`)).toBe(true);
    for (const path of [`${key}/decrypt`, `${key}/encrypt`, `${key}/rewrap/x`, key]) expect(allowedBy('rewrap-only', path)).toBe(false);
    expect(allowedBy('rewrap-only', `${key}/rewrap`, 'read')).toBe(true);
  });

  test('user: not policies, not other tokens, not root tokens', () => {
    expect([
      allowedBy('user', `${key}/decrypt`),
      allowedBy('user', '/v1/config/keystore/transit-keys', 'create'),
      allowedBy('user', '/v1/state/keystore/token/info'),
    ]).toEqual([true, true, true]);
    for (const [path, operation] of [
      ['/v1/config/policy/policies', 'read'],
      ['/v1/config/policy/policies/p', 'update'],
      ['/v1/state/policy/policies/p', 'read'],
      ['/v1/state/keystore/tokens', 'read'],
      ['/v1/state/keystore/tokens/x', 'delete'],
      ['/v1/state/keystore/token/create', 'execute'],
      ['/v1/state/keystore/token/create-root', 'execute'],
    ] as const) {
      expect(allowedBy('user', path, operation)).toBe(false);
    }
  });

  test('app-owner-tenant: not the appliance, not other tenants', () => {
    expect([
      allowedBy('app-owner-tenant', `${key}/encrypt`),
      allowedBy('app-owner-tenant', '/v1/config/policy/policies', 'create'),
    ]).toEqual([true, true]);
    for (const path of ['/v1/config/tenants', '/v1/state/tenants/x', '/v1/state/keystore/system/seal', '/v1/state/system/backup']) {
      expect(allowedBy('app-owner-tenant', path, 'read')).toBe(false);
    }
  });
});

describe('constraints', () => {
  const grants = [
    rule(
      '/a',
      { all: 'allow' },
      {
        allowedValues: { cipher: ['rsa-2048'], 'auto-rotate/rotate-after': ['1d', '2d'], policies: ['a', 'b'] },
        hideFields: ['keys', 'est/https-url'],
      },
    ),
  ];
  const code = (document: unknown, rules = grants): string => {
    try {
      requireAllowedValues([rules], document);
      return 'allowed';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  test('a listed field must have a listed value, each element of a list too; absent fields are not judged', () => {
    expect(code({})).toBe('allowed');
    expect(code({ cipher: 'rsa-2048', 'auto-rotate': { 'rotate-after': '2d' }, policies: ['b', 'a'], other: 1 })).toBe('allowed');
    for (const document of [
      { cipher: 'ed25519' },
      { 'auto-rotate': { 'rotate-after': '3d' } },
      { policies: ['a', 'root'] },
      { cipher: { x: 1 } },
    ]) {
      expect(code(document)).toBe('policy-denied');
    }
  });

  test('the most generous of equally specific rules counts', () => {
    expect(code({ cipher: 'ed25519' }, [...grants, rule('/a', { all: 'allow' }, { allowedValues: { cipher: ['ed25519'] } })])).toBe(
      'allowed',
    );
    expect(hasConstraints([[...grants, rule('/a', { all: 'allow' })]])).toBe(false);
    expect(
      withoutHidden([[...grants, rule('/a', { all: 'allow' }, { hideFields: ['keys'] })]], { keys: 1, est: { 'https-url': 1 } }),
    ).toEqual({ est: { 'https-url': 1 } });
  });

  test('hidden fields are gone from documents and lists, in containers too', () => {
    const shown = { name: 'x', est: { enabled: true } };
    const whole = { ...shown, keys: { 1: 'pem' }, est: { enabled: true, 'https-url': [] } };
    expect(withoutHidden([grants], whole)).toEqual(shown);
    expect(withoutHidden([grants], [whole, shown])).toEqual([shown, shown]);
  });

  test('what names an entry is not hidden; a field of the same name inside containers is', () => {
    const nameless = [rule('/a', { all: 'allow' }, { hideFields: ['name', 'est/name'] })];
    const entry = { name: 'x', est: { name: 'y' } };
    expect(withoutHidden([nameless], [entry], 'name')).toEqual([{ name: 'x', est: {} }]);
    expect(withoutHidden([nameless], entry, 'accessor')).toEqual({ est: {} });
  });

  test('a batch is judged request by request, and its answers lose what single ones lose', () => {
    const batch = [rule('/a', { all: 'allow' }, { allowedValues: { 'hash-algorithm': ['sha256'] }, hideFields: ['plaintext'] })];
    expect(code({ 'batch-input': [{ text: 'a' }, { 'hash-algorithm': 'sha256' }] }, batch)).toBe('allowed');
    expect(code({ 'batch-input': [{ text: 'a' }, { 'hash-algorithm': 'sha512' }] }, batch)).toBe('policy-denied');
    expect(withoutHidden([batch], { 'batch-results': [{ plaintext: 'a', 'key-version': 1 }, { code: 'x' }], failed: 1 })).toEqual({
      'batch-results': [{ 'key-version': 1 }, { code: 'x' }],
      failed: 1,
    });
  });

  test('a path leads through lists', () => {
    const inner = [rule('/a', { all: 'allow' }, { allowedValues: { 'roles/name': ['a'] }, hideFields: ['keys/value'] })];
    expect(code({ roles: [{ name: 'a' }, {}] }, inner)).toBe('allowed');
    expect(code({ roles: [{ name: 'a' }, { name: 'b' }] }, inner)).toBe('policy-denied');
    expect(withoutHidden([inner], { keys: [{ version: 1, value: 'pem' }] })).toEqual({ keys: [{ version: 1 }] });
  });

  test('names that every object has are fields like others', () => {
    const odd = [rule('/a', { all: 'allow' }, { allowedValues: { constructor: ['x'], toString: ['x'] }, hideFields: ['constructor'] })];
    expect(code({}, odd)).toBe('allowed');
    expect(withoutHidden([odd], { a: 1 })).toEqual({ a: 1 });
  });
});
