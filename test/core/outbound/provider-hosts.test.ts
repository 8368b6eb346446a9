// Places that an operator has named for one kind of providers hold for another.
import { expect, test } from 'vitest';
import { withCommonHosts } from '../../../appliance/configuration.ts';
import { openDestinations } from '../../../core/outbound/destinations.ts';
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

test('two lists with nothing in common allow nothing', () => {
  const other = { allow: ['192.0.2.9'], deny: [] };
  expect(['192.0.2.1', '192.0.2.9'].map((host) => mayCall([named, other], host))).toEqual([false, false]);
});

test('the section of the sign-in of people holds for issuers of workloads as well', () => {
  const sections = { oidc: { providerHosts: denied }, jwt: { providerHosts: free }, transit: {} };
  expect(withCommonHosts(sections)).toEqual({ ...sections, jwt: { providerHosts: denied } });
  expect(withCommonHosts({ jwt: { providerHosts: free } })).toEqual({ jwt: { providerHosts: free } });
});
