// What follows from long policies is worked out once for each, not for each question, entry, field or item of a batch.
import { expect, test } from 'vitest';
import type { AccessControl } from '../../../core/access/access-control.ts';
import { hidesOf, requireAllowedValues, withoutHidden } from '../../../core/access/policy/constraints.ts';
import { compilePolicy, decide } from '../../../core/access/policy/engine.ts';
import type { Policy, PolicyRule } from '../../../core/access/policy/policy.ts';
import { judge } from '../../../core/platform/policies/judge.ts';
import { warningsOf, type Reach } from '../../../core/platform/policies/reach.ts';

let looks = 0;
/** A policy of rules that count how often one looks at what they say. */
function counted(name: string, count: number, rule: (index: number) => Partial<PolicyRule>): Policy {
  const rules = Array.from({ length: count }, (_, index) => {
    const whole: PolicyRule = { path: '/a/*', operations: { all: 'allow' }, allowedValues: {}, hideFields: [], ...rule(index) };
    const of = <Name extends keyof PolicyRule>(field: Name): PropertyDescriptor => ({
      enumerable: true,
      get: () => {
        looks += 1;
        return whole[field];
      },
    });
    return Object.defineProperties(
      {},
      {
        path: of('path'),
        operations: of('operations'),
        allowedValues: of('allowedValues'),
        hideFields: of('hideFields'),
      },
    ) as PolicyRule;
  });
  return { name, description: '', restApi: { rules } };
}
const fields = Array.from({ length: 90 }, (_, index) => `field-${index}`);
const mostLooks = 20;

test('hidden fields are found once, whatever number of entries and fields is asked for', () => {
  looks = 0;
  const policies = [0, 1].map((one) => counted(`p${one}`, 400, () => ({ hideFields: ['x', ...fields] })));
  for (let entry = 0; entry < 62; entry++) {
    const { grants } = decide(policies.map(compilePolicy), ['a', String(entry)], 'read');
    expect(withoutHidden(grants, { name: 'a', 'field-3': 1 })).toEqual({ name: 'a' });
    for (const field of ['cipher', 'name', 'x/y', ...fields]) expect(hidesOf(grants, field)).toBe(!['cipher', 'name'].includes(field));
  }
  expect(looks).toBeLessThanOrEqual(800 * mostLooks);
});

test('allowed values are read once, whatever number of items a batch has', () => {
  looks = 0;
  const policies = [0, 1].map((one) => counted(`p${one}`, 400, (index) => ({ allowedValues: { mode: [`m${one}-${index}`] } })));
  const { grants } = decide(policies.map(compilePolicy), ['a', 'b'], 'execute');
  const batch = (mode: string) => ({ 'batch-input': Array.from({ length: 100 }, () => ({ mode })) });
  requireAllowedValues(grants, batch('m1-399'));
  expect(() => requireAllowedValues(grants, batch('other'))).toThrow('does not allow this value');
  expect(looks).toBeLessThanOrEqual(800 * mostLooks);
});

test('a batch that would be judged too long is refused with the number of items that are not', () => {
  const { grants } = decide(
    [compilePolicy(counted('p', 10_000, (index) => ({ allowedValues: { mode: [index] } })))],
    ['a', 'b'],
    'execute',
  );
  const batch = (items: number) => ({ 'batch-input': Array.from({ length: items }, () => ({ mode: 0 })) });
  requireAllowedValues(grants, batch(250));
  expect(() => requireAllowedValues(grants, batch(251))).toThrow(/10000 rules.*250 items at most/);
});

test('questions about policies compile no rule again, and name three of the overruled', () => {
  looks = 0;
  const policies = [
    counted('wide', 200, (index) => ({ path: index < 5 ? `/a${'/*'.repeat(index)}/**` : `/b/${index}`, operations: { all: 'reject' } })),
    counted('narrow', 200, (index) => ({ path: `/a/x/x/x/x/x/${index}` })),
  ];
  const access = {
    decide: (_, segments, operation) => decide(policies.map(compilePolicy), segments, operation),
    policiesOf: () => policies,
  } as Partial<AccessControl> as AccessControl;
  for (let question = 0; question < 50; question++) {
    const asked = { segments: ['a', 'x', 'x', 'x', 'x', 'x', String(question)], operation: 'read', endpoints: [], names: {} } as const;
    const { allowed, why } = judge(access, { policies: [] } as never, asked, []);
    expect(allowed).toBe(true);
    expect(why.match(/of "wide"/g)).toHaveLength(3);
  }
  expect(looks).toBeLessThanOrEqual(400 * mostLooks);
});

test('a field that many rules of a path speak of is looked for once', () => {
  let searches = 0;
  const names = Object.assign([...fields], {
    includes: (name: string) => {
      searches += 1;
      return fields.includes(name);
    },
  });
  const known = { shapes: [], names };
  const reach: Reach = [{ path: ['a', undefined], operations: ['read'], fields: { asked: known, answered: known } }];
  const values = Object.fromEntries(fields.map((field) => [field, [1]]));
  const { restApi } = counted('p', 100, () => ({ allowedValues: values, operations: { read: 'allow' } }));
  expect(warningsOf(restApi.rules, reach)).toEqual([]);
  expect(searches).toBe(fields.length);
});
