// Roles on claims: the pure part of a sign-in, R52 to R56 of the requirements in plugins/oidc/REQUIREMENTS.md.
import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { findClaim, showableText, type Claims } from '../../../core/identity/claims.ts';
import { spellingOf } from '../../../core/identity/spelling.ts';
import { LoginFailure } from '../../../plugins/oidc/failures.ts';
import { maxRoleValues, neededClaims, type RoleRule } from '../../../core/identity/role-match.ts';
import { requireRole, selectSignInRoles } from '../../../plugins/oidc/claims/granted-roles.ts';

const role = (name: string, fields: Partial<RoleRule> = {}): RoleRule => ({
  name,
  requiredClaims: [],
  claimMappings: {},
  tokenPolicies: [`policy-of-${name}`],
  ...fields,
});

const selectRoles = (claims: Claims, roleClaim: string, roles: readonly RoleRule[]) => selectSignInRoles(claims, { roleClaim }, roles);

function refusalOf(run: () => unknown): LoginFailure {
  try {
    run();
  } catch (error) {
    if (error instanceof LoginFailure) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const granted = (claim: string): readonly string[] =>
  selectRoles({ groups: claim }, 'groups', [role('Admins')]).granted.map(({ name }) => name);

describe('R52: the role claim', () => {
  test.each([
    ['a string is one value', 'admins', ['admins']],
    ['a list of strings', ['admins', 'users'], ['admins', 'users']],
    ['numbers, objects and nulls in a list are passed over', ['admins', 7, { admins: true }, null, ['users']], ['admins']],
    ['a number is no value', 7, []],
    ['an object is no value', { admins: true }, []],
    ['an empty list is no value', [], []],
  ])('%s', (_, claim, values) => {
    expect(selectRoles({ groups: claim }, 'groups', [role('admins'), role('users')]).roleValues).toEqual(values);
  });

  test('absent and null are the same as missing', () => {
    expect(selectRoles({}, 'groups', []).roleValues).toBeUndefined();
    expect(selectRoles({ groups: null }, 'groups', []).roleValues).toBeUndefined();
  });

  test('is the members of an object where the service says so, without those that are null or false', () => {
    const roleClaim = 'urn:zitadel:iam:org:project:roles';
    const claims = { [roleClaim]: { admins: { '21': 'example.test' }, users: null, guests: false, __proto__: { root: true } } };
    const roles = [role('admins'), role('users'), role('guests'), role('root')];
    const granted = (keysOfObject: boolean) =>
      selectSignInRoles(claims, { roleClaim, keysOfObject }, roles).granted.map(({ name }) => name);
    expect([granted(true), granted(false)]).toEqual([['admins'], []]);
    const many = Object.fromEntries(Array.from({ length: maxRoleValues + 1 }, (_, index) => [`g${index}`, true]));
    expect(refusalOf(() => selectSignInRoles({ groups: many }, { roleClaim: 'groups', keysOfObject: true }, [])).reason).toBe(
      'too-many-role-values',
    );
  });

  test('without a value gives the role for people without groups, and no other; groups that are too many are groups', () => {
    const select = { roleClaim: 'groups', roleWithoutGroups: 'guest' };
    const granted = (claims: Claims) => selectSignInRoles(claims, select, [role('guest'), role('admins')]).granted.map(({ name }) => name);
    for (const claims of [{}, { groups: [] }, { groups: null }, { groups: [7] }]) expect(granted(claims)).toEqual(['guest']);
    for (const claims of [{ groups: ['unknown'] }, { hasgroups: true }, { _claim_names: { groups: 'src1' } }])
      expect(granted(claims)).toEqual([]);
    expect(granted({ groups: ['admins'] })).toEqual(['admins']);
    expect(selectSignInRoles({}, select, [role('guest', { requiredClaims: ['email'] })]).granted).toEqual([]);
  });

  test('matches exactly: upper and lower case, spaces and lists in a string count', () => {
    expect(granted('Admins')).toEqual(['Admins']);
    for (const near of ['admins', 'ADMINS', ' Admins', 'Admins,users', 'Admins*', '*', '']) expect(granted(near)).toEqual([]);
  });

  test('more than 10,000 values are refused', () => {
    const groups = Array.from({ length: maxRoleValues + 1 }, (_, index) => `g${index}`);
    expect(refusalOf(() => selectRoles({ groups }, 'groups', [])).reason).toBe('too-many-role-values');
    expect(selectRoles({ groups: groups.slice(1) }, 'groups', [role('g7')]).granted).toHaveLength(1);
  });

  test('a JSON pointer reaches nested claims, a name with slashes inside is a name', () => {
    const keycloak = { realm_access: { roles: ['operator'] }, 'https://example.com/groups': ['auditor'] };
    expect(selectRoles(keycloak, '/realm_access/roles', [role('operator')]).granted).toHaveLength(1);
    expect(selectRoles(keycloak, 'https://example.com/groups', [role('auditor')]).granted).toHaveLength(1);
    expect(findClaim({ 'a/b': { '~': [5, 6] } }, '/a~1b/~0/1')).toBe(6);
  });

  test('inherited properties are never claims', () => {
    for (const name of ['constructor', '__proto__', 'toString', '/constructor/name', '/groups/length']) {
      expect(findClaim({ groups: ['a'] }, name)).toBeUndefined();
    }
  });
});

describe('R53: several matching roles', () => {
  const roles = [
    role('b', { tokenPolicies: ['user', 'audit'], claimMappings: { email: 'username', name: 'fullname' } }),
    role('a', { tokenPolicies: ['user'], claimMappings: { upn: 'username' } }),
  ];

  test('unite their policies, each once', () => {
    expect(selectRoles({ groups: ['b', 'a'] }, 'groups', roles).policies).toEqual(['user', 'audit']);
  });

  test('the first role in name order that maps an attribute gives it', () => {
    const claims = { groups: ['b', 'a'], email: 'e@x.test', upn: 'u@x.test', name: 'Eve' };
    expect(selectRoles(claims, 'groups', roles)).toMatchObject({ username: 'u@x.test', fullname: 'Eve' });
    expect(selectRoles({ ...claims, upn: null }, 'groups', roles).username).toBe('e@x.test');
  });

  test('the order of roles and values does not matter', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(['a', 'b', 'c', 'd'], { minLength: 1 }),
        fc.shuffledSubarray(['a', 'b', 'c', 'd']),
        (names, values) => {
          const once = selectRoles(
            { groups: values },
            'groups',
            names.map((name) => role(name)),
          );
          const again = selectRoles(
            { groups: values.toReversed() },
            'groups',
            names.toReversed().map((name) => role(name)),
          );
          expect(once.policies).toEqual(again.policies);
          expect(once.policies).toHaveLength(names.filter((name) => values.includes(name)).length);
        },
      ),
    );
  });
});

describe('R54: required claims', () => {
  const strict = role('strict', { requiredClaims: ['email', 'mfa'] });

  test('a role whose required claim is absent or null grants nothing, another one still does', () => {
    const selection = selectRoles({ groups: ['strict', 'open'], email: 'x', mfa: null }, 'groups', [strict, role('open')]);
    expect(selection.policies).toEqual(['policy-of-open']);
    expect(selection.verdicts.find((verdict) => verdict.role.name === 'strict')).toMatchObject({ matches: true, missingClaims: ['mfa'] });
  });

  test('empty strings, empty lists, zero and false are present', () => {
    for (const value of ['', [], 0, false])
      expect(selectRoles({ groups: 'strict', email: 'x', mfa: value }, 'groups', [strict]).granted).toHaveLength(1);
  });

  test('no role left is claim-missing and names the claims', () => {
    const selection = selectRoles({ groups: 'strict', email: 'x' }, 'groups', [strict]);
    const refusal = refusalOf(() => requireRole(selection, 'groups'));
    expect(refusal).toMatchObject({ code: 'claim-missing', fields: { 'missing-claims': ['mfa'] } });
  });
});

describe('R55: no groups is not an error of the provider', () => {
  test('a missing role claim grants nothing and is told apart from one that does not match', () => {
    expect(refusalOf(() => requireRole(selectRoles({}, 'groups', [role('a')]), 'groups'))).toMatchObject({
      code: 'no-role',
      reason: 'role-claim-missing',
    });
    expect(refusalOf(() => requireRole(selectRoles({ groups: ['z'] }, 'groups', [role('a')]), 'groups'))).toMatchObject({
      code: 'no-role',
      reason: 'no-role-matches',
    });
  });
});

describe('R55: the advice for a role claim that is missing', () => {
  const claims = {
    realm_access: { roles: ['operator'], none: null },
    resource_access: { 'my.client/x': { roles: ['viewer'] } },
    address: { country: 'DE' },
    'https://example.com/groups': ['g'],
    'a/b': { '~': 'x' },
    _claim_names: { groups: 'src1' },
  };
  const hintFor = (roleClaim: string): string | undefined =>
    refusalOf(() => requireRole(selectRoles(claims, roleClaim, [role('a')]), roleClaim)).hint;

  test('says that the account may be in no group, and how nested claims are written', () => {
    for (const name of ['groups', 'realm_access.none', 'constructor', 'roles.length', '/realm_access/groups']) {
      expect(hintFor(name)).toContain('or the account is in no group');
      expect(hintFor(name)).toMatch(/nested claim is written as a JSON pointer, such as \/realm_access\/roles\.$/);
    }
  });

  test.each([
    ['realm_access.roles', '/realm_access/roles'],
    ['realm_access/roles', '/realm_access/roles'],
    ['realm_access:roles', '/realm_access/roles'],
    ['$.realm_access.roles', '/realm_access/roles'],
    ['#/realm_access/roles', '/realm_access/roles'],
    ['/realm_access.roles', '/realm_access/roles'],
    ["realm_access['roles']", '/realm_access/roles'],
    ['$["realm_access"]["roles"]', '/realm_access/roles'],
    ['roles', '/realm_access/roles'],
    ['resource_access.my.client/x.roles', '/resource_access/my.client~1x/roles'],
    ['/resource_access/my.client/x/roles', '/resource_access/my.client~1x/roles'],
    ['/https://example.com/groups', 'https://example.com/groups'],
    ['a/b.~', '/a~1b/~0'],
  ])('%s is to be written %s, which finds the claim', (written, right) => {
    expect(hintFor(written)).toContain(`The provider sends ${right}: write that in place of ${written} (`);
    expect(findClaim(claims, right)).toBeDefined();
  });

  test('a required claim that is sent under another name gets the same advice, one that is not sent gets none', () => {
    const hintOf = (name: string): string | undefined =>
      refusalOf(() => requireRole(selectRoles({ ...claims, groups: 'a' }, 'groups', [role('a', { requiredClaims: [name] })]), 'groups'))
        .hint;
    expect(hintOf('address.country')).toContain('The provider sends /address/country: write that in place of address.country');
    expect(hintOf('address.city')).not.toContain('The provider sends');
  });

  test('names of any form end in advice or none, and only in advice that finds a claim', () => {
    const names = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.stringMatching(/^[$#]?[./]?[a-z_]{1,12}([./:][a-z_]{1,8}){0,3}$/),
    );
    fc.assert(
      fc.property(names, fc.dictionary(fc.constantFrom('a', 'roles', '', 'x.y', '__proto__'), fc.jsonValue()), (name, sent) => {
        const spelling = spellingOf(sent as Claims, name);
        return spelling === undefined || findClaim(sent as Claims, spelling) !== undefined;
      }),
    );
  });
});

describe('R56: mapped attributes', () => {
  const mapped = role('a', { claimMappings: { email: 'username', name: 'fullname' } });
  const usernameOf = (email: unknown): string | undefined =>
    selectRoles({ groups: 'a', email: email as never }, 'groups', [mapped]).username;

  test('only strings are mapped; without one there is no username', () => {
    for (const value of [7, ['x'], { a: 1 }, null, true, '', '   ']) expect(usernameOf(value)).toBeUndefined();
  });

  test('control, direction and zero-width characters are removed, white space at the ends too', () => {
    expect(usernameOf(' eve\u0000\u001b[31m\r\nroot\u202e\u2066\u200b ')).toBe('eve[31mroot');
  });

  test('a text is at most 256 characters, counted as characters', () => {
    expect(Array.from(usernameOf('😀'.repeat(300)) ?? '')).toHaveLength(256);
  });

  test('whatever comes in, what goes out is safe to show', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const shown = showableText(text);
        expect(shown).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        expect(shown.isWellFormed()).toBe(true);
        expect(showableText(shown)).toBe(shown);
      }),
    );
  });
});

test('R49: the needed claims are the role claim, required and mapped ones, each once', () => {
  const roles = [
    role('a', { requiredClaims: ['email'], claimMappings: { email: 'username', name: 'fullname' } }),
    role('b', { requiredClaims: ['mfa'] }),
  ];
  expect(neededClaims('groups', roles)).toEqual(['groups', 'email', 'name', 'mfa']);
});
