// Which sets of policies allow more than others: against the decisions themselves, for all paths of a small world.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtInPolicies, defaultPolicy } from '../../../core/access/policy/built-in.ts';
import { hiddenFields, requireAllowedValues } from '../../../core/access/policy/constraints.ts';
import { compilePolicy, decide } from '../../../core/access/policy/engine.ts';
import { wideningOf } from '../../../core/access/policy/narrowing.ts';
import type { PolicyOperation } from '../../../core/access/policy/patterns.ts';
import type { Policy, PolicyRule } from '../../../core/access/policy/policy.ts';

const rule = (path: string, operations: PolicyRule['operations'], rest: Partial<PolicyRule> = {}): PolicyRule => ({
  path,
  operations,
  allowedValues: {},
  hideFields: [],
  ...rest,
});
const policy = (name: string, ...rules: PolicyRule[]): Policy => ({ name, description: '', restApi: { rules } });
const allow = (path: string, rest?: Partial<PolicyRule>) => rule(path, { all: 'allow' }, rest);
const reject = (path: string) => rule(path, { all: 'reject' });
const builtIn = (name: string): Policy => {
  const found = builtInPolicies.get(name);
  if (found === undefined) throw new Error(name);
  return found;
};

describe('wideningOf', () => {
  const wide = policy('wide', allow('/v1/**'));
  const noPayroll = policy('no-payroll', reject('/v1/state/payroll/**'));

  test.each<[string, Policy[], Policy[], boolean]>([
    ['a policy that refuses is left out', [wide, noPayroll], [wide], true],
    ['one that allows', [wide, policy('one', allow('/v1/state/payroll'))], [wide], false],
    [
      'what is refused, another one does not allow',
      [policy('keys', allow('/v1/keys/**')), noPayroll],
      [policy('keys', allow('/v1/keys/**'))],
      false,
    ],
    [
      'the same is refused by another one',
      [wide, noPayroll, policy('too', reject('/v1/state/**'))],
      [wide, policy('too', reject('/v1/state/**'))],
      false,
    ],
    [
      'less is refused by another one',
      [wide, noPayroll, policy('b', reject('/v1/state/payroll/a'))],
      [wide, policy('b', reject('/v1/state/payroll/a'))],
      true,
    ],
    [
      'a more exact rule allows it',
      [policy('a', rule('/v1/a/b', { execute: 'allow' })), policy('r', reject('/v1/**'))],
      [policy('a', rule('/v1/a/b', { execute: 'allow' }))],
      false,
    ],
    [
      'it refuses the entries of what may be a list',
      [policy('a', allow('/v1/a/b')), policy('r', reject('/v1/**'))],
      [policy('a', allow('/v1/a/b'))],
      true,
    ],
    [
      'a rule with the same path allows it',
      [policy('a', allow('/v1/a/*')), policy('r', reject('/v1/a/*'))],
      [policy('a', allow('/v1/a/*'))],
      false,
    ],
    [
      'it is for another operation',
      [policy('a', rule('/v1/**', { read: 'allow' })), policy('r', rule('/v1/a', { update: 'reject' }))],
      [policy('a', rule('/v1/**', { read: 'allow' }))],
      false,
    ],
    ['a star meets a literal', [policy('a', allow('/v1/*/x')), policy('r', reject('/v1/s/*'))], [policy('a', allow('/v1/*/x'))], true],
    ['values are limited', [wide, policy('l', allow('/v1/a', { allowedValues: { x: [1] } }))], [wide], true],
    ['fields are hidden', [wide, policy('h', allow('/v1/a', { hideFields: ['x'] }))], [wide], true],
    [
      'fields are hidden that the other hides',
      [policy('a', allow('/v1/**', { hideFields: ['x'] })), policy('h', allow('/v1/a', { hideFields: ['x/y'] }))],
      [policy('a', allow('/v1/**', { hideFields: ['x'] }))],
      false,
    ],
    ['an entry of a list is refused', [policy('l', allow('/v1/l')), policy('r', reject('/v1/l/a'))], [policy('l', allow('/v1/l'))], true],
    ['a list is refused of an entry', [policy('e', allow('/v1/l/a')), policy('r', reject('/v1/l'))], [policy('e', allow('/v1/l/a'))], true],
    ['user for a token with default', [builtIn('user')], [], false],
    [
      'user for one with a policy beside it',
      [builtIn('user'), policy('k', allow('/v1/state/keystore/transit-keys/**'))],
      [policy('k', allow('/v1/state/keystore/transit-keys/**'))],
      false,
    ],
    ['user for one that allows all', [builtIn('user'), wide], [wide], true],
    ['rewrap-only of user', [builtIn('user'), builtIn('rewrap-only')], [builtIn('rewrap-only')], false],
    ['user without app-owner-tenant', [builtIn('user'), builtIn('app-owner-tenant')], [builtIn('user')], true],
    ['nothing', [wide, noPayroll], [wide, noPayroll], false],
  ])('%s', (_, own, given, widens) => {
    const same = given.map((one) => own.find(({ name }) => name === one.name) ?? one);
    expect(wideningOf([defaultPolicy, ...same], [[defaultPolicy, ...own]]) !== undefined).toBe(widens);
  });

  test('says what is allowed past which rule', () => {
    expect(wideningOf([wide], [[wide, noPayroll]])).toEqual({
      operation: 'create',
      policy: 'wide',
      rule: '/v1/**',
      past: { policy: 'no-payroll', rule: '/v1/state/payroll/**' },
    });
  });

  test('gives up on policies that would take long', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
    const given = policy('given', ...names.map((name) => rule(`/v1/${name}/x/**`, { read: 'allow' })));
    const left = policy('left', ...names.map((name) => rule(`/v1/*/x/${name}`, { read: 'reject' })));
    const more = [
      given,
      ...['a', 'b'].map((name) => policy(name, ...names.map((one) => rule(`/v1/${one}-${name}/x/**`, { read: 'allow' })))),
    ];
    expect(wideningOf(more, [[...more, left]])).toBe('too-long');
  });

  const segment = fc.constantFrom('a', 'b', '*');
  const path = fc
    .tuple(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([parts, isOpen]) => `/${[...parts, ...(isOpen ? ['**'] : [])].join('/')}`);
  const effect = fc.constantFrom('allow', 'reject');
  const limits = fc.record(
    {
      allowedValues: fc.dictionary(fc.constantFrom('x', 'y'), fc.subarray([1, 2], { minLength: 1 }), { maxKeys: 2 }),
      hideFields: fc.subarray(['x', 'y']),
    },
    { requiredKeys: [] },
  );
  const rules = fc
    .array(
      fc.tuple(
        path,
        fc.record({ create: effect, read: effect }, { requiredKeys: [] }),
        fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, limits),
      ),
      { maxLength: 4 },
    )
    .map((list) => list.map(([where, what, more]) => rule(where, what, more)));
  const sets = fc.tuple(fc.array(rules, { minLength: 2, maxLength: 4 }), fc.nat(), fc.nat()).map(([lists, own, given]) => {
    const all = lists.map((list, index) => policy(`p${index}`, ...list));
    const some = (bits: number) => all.filter((_, index) => ((bits >> index) & 1) === 1);
    return { all, own: some(own), given: some(given) };
  });
  const world = ['a', 'b', 'c'].flatMap((one) => [
    [one],
    ...['a', 'b', 'c'].flatMap((two) => [[one, two], ...['a', 'b', 'c'].map((three) => [one, two, three])]),
  ]);
  const documents = [{}, ...[1, 2, 3].flatMap((x) => [{ x }, { y: x }, ...[1, 2, 3].map((y) => ({ x, y }))])];

  /** What a set of policies lets pass and shows at a path: of documents by number, `-` where it refuses by a rule, undefined where it is silent. */
  function powers(policies: readonly Policy[], segments: readonly string[], operation: PolicyOperation): ReadonlySet<string> | undefined {
    const { allowed, rule: decided, grants } = decide(policies.map(compilePolicy), segments, operation);
    if (!allowed) return decided === undefined ? undefined : new Set();
    const hidden = new Set(hiddenFields(grants));
    const passes = documents.flatMap((document, index) => {
      try {
        requireAllowedValues(grants, document);
        return [`passes ${index}`];
      } catch {
        return [];
      }
    });
    return new Set([...passes, ...['x', 'y'].filter((field) => !hidden.has(field)).map((field) => `shows ${field}`), 'at all']);
  }
  /** At a path, and as an entry of its list. */
  function effects(policies: readonly Policy[], segments: readonly string[], operation: PolicyOperation): readonly ReadonlySet<string>[] {
    const here = powers(policies, segments, operation);
    const list = powers(policies, segments.slice(0, -1), operation) ?? new Set<string>();
    return [here ?? new Set(), here === undefined ? list : list.intersection(here)];
  }

  test('no set that is accepted allows, lets pass or shows what the giver’s own refuses, limits or hides', () => {
    let accepted = 0;
    fc.assert(
      fc.property(sets, ({ all, given }) => {
        if (wideningOf(given, [all]) !== undefined) return;
        if (given.length < all.length && given.length > 0) accepted++;
        for (const segments of world)
          for (const operation of ['create', 'read'] as const)
            effects(given, segments, operation).forEach((one, index) => {
              if (!one.isSubsetOf(effects(all, segments, operation)[index] ?? new Set()))
                throw new Error(`${operation} ${segments.join('/')}`);
            });
      }),
      { numRuns: 1_500 },
    );
    expect(accepted).toBeGreaterThan(150);
  });

  test('nor, of an entry that was given more before, what neither allowed', () => {
    fc.assert(
      fc.property(sets, fc.nat(), ({ all, own, given }, bits) => {
        const before = all.filter((_, index) => ((bits >> index) & 1) === 1);
        const held = given.filter((one) => own.includes(one) || before.includes(one));
        if (wideningOf(held, [own, before]) !== undefined) return;
        for (const segments of world)
          for (const operation of ['create', 'read'] as const) {
            const [is, mine, was] = [held, own, before].map((set) => powers(set, segments, operation) ?? new Set<string>());
            if (is?.isSubsetOf(mine ?? new Set()) !== true && is?.isSubsetOf(was ?? new Set()) !== true)
              throw new Error(`${operation} ${segments.join('/')}`);
          }
      }),
      { numRuns: 1_500 },
    );
  });
});
