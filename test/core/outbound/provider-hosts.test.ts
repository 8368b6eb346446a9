// Places that an operator has named for one kind of providers hold for another.
import { expect, test } from 'vitest';
import { withCommonHosts } from '../../../appliance/configuration.ts';
import { openDestinations, type Rules } from '../../../core/outbound/destinations.ts';
import { bothRules } from '../../../core/outbound/provider-hosts.ts';

const own = { ports: [], publicUrl: 'https://keys.test' };
const mayCall = (rules: { allow: string[]; deny: string[] }[], host: string): boolean => {
  try {
    openDestinations(
      rules.reduce((one, other) => bothRules(one, other) as { allow: string[]; deny: string[] }),
      own,
    ).wayTo(new URL(`https://${host}`));
    return true;
  } catch {
    return false;
  }
};
const denied = { allow: [], deny: ['10.0.0.0/8', 'bad.example'] };
const free = { allow: [], deny: [] };
const named = { allow: ['192.0.2.1', '192.0.2.2'], deny: [] };

test('what either forbids is forbidden, and what both leave open is open', () => {
  expect([mayCall([free, denied], '10.1.1.1'), mayCall([denied, free], 'bad.example'), mayCall([free, denied], '192.0.2.1')]).toEqual([
    false,
    false,
    true,
  ]);
});

test('a list of what is allowed holds for both, and of two lists what they have in common', () => {
  expect([mayCall([free, named], '192.0.2.1'), mayCall([named, free], '192.0.2.9')]).toEqual([true, false]);
  const other = { allow: ['192.0.2.2', '192.0.2.3'], deny: [] };
  expect(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((host) => mayCall([named, other], host))).toEqual([false, true, false]);
});

const allow = (...hosts: string[]) => ({ allow: hosts, deny: [] });

/** Whether a connection to a name goes on to an address. */
const reaches = async (rules: Rules, host: string, address: string): Promise<boolean> => {
  const resolve = () => Promise.resolve([{ address, family: 4 }]);
  const { lookup } = openDestinations(rules, own, { resolve }).wayTo(new URL(`https://${host}`));
  return await new Promise((done) => lookup(host, { all: true }, (error) => done(error === null)));
};

test.each([
  [allow('*.Example'), allow('login.example'), 'login.example', '192.0.2.1', true],
  [allow('*.example'), allow('login.example'), 'other.example', '192.0.2.1', false],
  [allow('A.example'), allow('a.EXAMPLE'), 'a.example', '192.0.2.1', true],
  [allow('*.example'), allow('*.a.example'), 'b.example', '192.0.2.1', false],
  [allow('10.0.0.0/8'), allow('10.1.0.0/16'), 'a.example', '10.1.0.1', true],
  [allow('10.0.0.0/8'), allow('10.1.0.0/16'), 'a.example', '10.2.0.1', false],
  [allow('*.example'), allow('10.0.0.0/8'), 'a.example', '10.2.0.1', true],
  [allow('*.example'), allow('10.0.0.0/8'), 'a.example', '11.2.0.1', false],
  [allow('*.example'), allow('10.0.0.0/8'), 'a.test', '10.2.0.1', false],
  [allow('169.254.0.0/16'), allow('169.254.1.1'), 'a.example', '169.254.1.1', true],
  [allow('169.254.0.0/16'), allow('*.example'), 'a.example', '169.254.1.1', false],
])('of %j and %j, %s at %s passes both: %s', async (one, other, host, address, passes) => {
  expect([await reaches(bothRules(one, other), host, address), await reaches(bothRules(other, one), host, address)]).toEqual([
    passes,
    passes,
  ]);
});

test('a list of what is allowed of which others deny everything is refused, with the fields', () => {
  const sections = (oidc: Rules, jwt: Rules) => ({ oidc: { providerHosts: oidc }, jwt: { providerHosts: jwt } });
  const deny = (...hosts: string[]) => ({ allow: [], deny: hosts });
  const refused: readonly (readonly [Rules, Rules, Rules, RegExp])[] = [
    [deny('login.example'), allow('Login.example'), free, /^provider-hosts\/deny: all hosts of oidc\/provider-hosts\/allow are denied/],
    [allow('10.1.0.0/16', 'a.b.example'), deny('10.0.0.0/8', '*.example'), free, /^oidc\/provider-hosts\/deny: .* provider-hosts\/allow/],
    [allow('*.b.example'), free, deny('*.example'), /^jwt\/provider-hosts\/deny: all hosts of provider-hosts\/allow/],
    [allow('a.example'), free, deny('0.0.0.0/0', '::/0'), /^jwt\/provider-hosts\/deny: /],
    [allow('10.0.0.0/8', '2001:db8::/32'), deny('10.0.0.0/9', '10.192.0.0/10'), deny('10.128.0.0/10', '2001:db8::/32'), /^oidc.* and jwt/],
    [allow('a.example'), free, deny('0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1'), /^jwt\/provider-hosts\/deny: /],
    [allow('a', 'b'), deny('a'), deny('b'), /^oidc\/provider-hosts\/deny and jwt\/provider-hosts\/deny: /],
    [{ allow: ['a'], deny: ['a'] }, free, free, /^provider-hosts\/deny: all hosts of provider-hosts\/allow/],
    // What is left of each list.
    [allow('a', 'b'), { allow: ['b', 'c'], deny: ['b'] }, free, /^provider-hosts\/allow and oidc\/provider-hosts\/allow: .* none denies/],
  ];
  for (const [common, oidc, jwt, says] of refused) expect(() => withCommonHosts(common, sections(oidc, jwt))).toThrow(says);
  const passing: readonly (readonly [Rules, Rules, Rules])[] = [
    [deny('login.example'), allow('*.example'), free],
    [deny('10.1.0.0/16'), allow('10.0.0.0/8'), free],
    [deny('10.0.0.0/9', '10.128.0.0/10', '10.192.0.0/11'), allow('10.0.0.0/8'), free],
    [deny('0.0.0.0/0'), allow('a.example'), free],
    [deny('10.0.0.0/8'), allow('a.example'), free],
    // What is denied for issuers of workloads alone takes nothing from sign-ins.
    [free, allow('a.example'), { allow: [], deny: ['b.example'] }],
    [deny('0.0.0.0/0', '::/0'), free, free],
  ];
  for (const [common, oidc, jwt] of passing) expect(() => withCommonHosts(common, sections(oidc, jwt))).not.toThrow();
});

test('lists without a host in common are refused, with their fields', () => {
  const sections = (oidc: Rules, jwt: Rules) => ({ oidc: { providerHosts: oidc }, jwt: { providerHosts: jwt } });
  expect(() => withCommonHosts(named, sections(allow('192.0.2.9'), free))).toThrow(
    /^provider-hosts\/allow and oidc\/provider-hosts\/allow: /,
  );
  expect(() => withCommonHosts(allow('*.a.example'), sections(free, allow('a.example')))).toThrow(
    /^provider-hosts\/allow and jwt\/provider-hosts\/allow: /,
  );
  expect(() => withCommonHosts(free, sections(allow('10.0.0.0/8'), allow('11.0.0.0/8')))).toThrow(
    /^oidc\/provider-hosts\/allow and jwt\/provider-hosts\/allow: /,
  );
  // Each two of them have a host in common.
  expect(() => withCommonHosts(allow('a', 'b'), sections(allow('b', 'c'), allow('a', 'c')))).toThrow(/^provider-.* and oidc.* and jwt/);
  expect(() => withCommonHosts(allow('*.a.example'), sections(allow('10.0.0.0/8'), allow('X.a.example')))).not.toThrow();
});

test('what is common holds for the sign-in of people and for issuers of workloads, and so does its former name', () => {
  const sections = { oidc: { providerHosts: free }, jwt: { providerHosts: free }, transit: {} };
  const both = { oidc: { providerHosts: denied }, jwt: { providerHosts: denied }, transit: {} };
  expect(withCommonHosts(denied, sections)).toEqual(both);
  expect(withCommonHosts(free, { ...sections, oidc: { providerHosts: denied } })).toEqual(both);
  expect(withCommonHosts(named, { ...sections, oidc: { providerHosts: denied } })).toMatchObject({
    oidc: { providerHosts: { allow: named.allow, deny: denied.deny } },
    jwt: { providerHosts: { allow: named.allow, deny: denied.deny } },
  });
  expect(withCommonHosts(free, { jwt: { providerHosts: free } })).toEqual({ jwt: { providerHosts: free } });
  expect(withCommonHosts(denied, { transit: {} })).toEqual({ transit: {} });
});
