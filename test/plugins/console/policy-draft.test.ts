// The editor of policies: what is shown makes the policy that it was made from, and what cannot be read is said.
import { describe, expect, test } from 'vitest';
import { besideRule, bodyOf, draftOf, newRule, ruleIn } from '../../../plugins/console/app/views/policies/policy-draft.ts';
import { builtInPolicies } from '../../../core/access/policy/built-in.ts';

describe('a policy', () => {
  test('comes back as it was', () => {
    const policy = {
      description: 'two lines\nof text',
      'rest-api': {
        rules: [
          { path: '/v1/**', operations: { all: 'allow', delete: 'reject' } },
          {
            path: '/v1/config/keystore/transit-keys',
            operations: { create: 'allow' },
            'allowed-values': { cipher: ['aes256-gcm96', 'ecdsa-p256'], exportable: [false], 'auto-rotate/rotate-after': ['90d'] },
            'hide-fields': ['usage', 'keys'],
          },
          {
            path: '/v1/x',
            operations: {},
            'allowed-values': {
              a: ['1', 'true', 'with, comma', 'with "marks"', ' around ', 2, 1.5, true, '', null, 'null', 1e21, 1e-7, '1e21', -0.5],
            },
          },
        ],
      },
    } as const;
    expect(bodyOf(draftOf('x', policy))).toEqual({ body: policy, problems: [] });
  });

  test('that every tenant has comes back as well', () => {
    for (const { name, description, restApi } of builtInPolicies.values()) {
      const rules = restApi.rules.map(({ path, operations }) => ({ path, operations }));
      expect(bodyOf(draftOf(name, { description, 'rest-api': { rules } })).body).toEqual({ description, 'rest-api': { rules } });
    }
  });

  test('with a line of values that has no field says so', () => {
    const draft = { name: 'x', description: '', rules: [newRule(), { ...newRule(), allowedValues: 'aes256-gcm96' }] };
    expect(bodyOf(draft).problems).toEqual(['Rule 2: a line of the allowed values is a field, a colon, and its values.']);
  });
});

test.each([
  ['rest-api/rules/0/path', 0],
  ['rest-api/rules/12 (/V1/**) has no effect: upper and lower case count.', 12],
  ['rest-api.rules[3].operations', 3],
  ['description', undefined],
])('%s is about rule %s', (text, index) => expect(ruleIn(text)).toBe(index));

test('a warning beside its rule does not repeat where the rule is', () => {
  expect(besideRule('rest-api/rules/12 (/V1/**) has no effect: upper and lower case count.')).toBe(
    'Has no effect: upper and lower case count.',
  );
  expect(besideRule('Something else.')).toBe('Something else.');
});
