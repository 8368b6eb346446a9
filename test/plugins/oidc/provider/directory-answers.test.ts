// Group overage: how it is marked, and from where the groups are fetched. The rule about `_claim_sources` is tested here and over TLS.
import { describe, expect, test } from 'vitest';
import { directoryOrigin, isOverage } from '../../../../plugins/oidc/provider/directory.ts';
import type { SignInMetadata } from '../../../../core/identity/discovery.ts';

const metadata: SignInMetadata = {
  issuer: 'https://login.example/',
  authorization_endpoint: 'https://login.example/a',
  token_endpoint: 'https://login.example/t',
  jwks_uri: 'https://login.example/k',
};
const source = (endpoint: unknown) => ({ _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint } } }) as never;

describe('overage is marked', () => {
  test.each([
    ['by _claim_names', { _claim_names: { groups: 'src1' } }],
    ['by hasgroups', { hasgroups: true }],
    ['by hasgroups as a string', { hasgroups: 'true' }],
    ['by a malformed _claim_names', { _claim_names: 'src1' }],
    ['by a source that is not there', { _claim_names: { groups: 'src9' }, _claim_sources: {} }],
  ])('%s', (_, claims) => expect(isOverage(claims, 'groups')).toBe(true));

  test.each([
    ['not when the claim is there', { groups: ['a'], _claim_names: { groups: 'src1' } }],
    ['not for another claim', { _claim_names: { photo: 'src1' } }],
    ['not by nothing', {}],
    ['not by hasgroups false', { hasgroups: false }],
  ])('%s', (_, claims) => expect(isOverage(claims, 'groups')).toBe(false));

  test('for a pointer only when it is one member', () => {
    expect(isOverage({ _claim_names: { groups: 'src1' } }, '/groups')).toBe(true);
    expect(isOverage({ _claim_names: { groups: 'src1' } }, '/realm/groups')).toBe(false);
  });
});

describe('the directory is called at the host of the metadata, never at one that a claim names', () => {
  test('msgraph_host wins over every endpoint in _claim_sources', () => {
    const own = { ...metadata, msgraph_host: 'graph.microsoft.us' };
    expect(directoryOrigin(own, source('https://evil.example/getMemberObjects'))).toBe('https://graph.microsoft.us');
    expect(directoryOrigin(own, source('https://graph.microsoft.com/v1.0/x'))).toBe('https://graph.microsoft.us');
  });

  test.each([
    ['https://graph.windows.net/t/users/o/getMemberObjects', 'https://graph.microsoft.com'],
    ['https://graph.microsoft.com/v1.0/users/o/getMemberObjects', 'https://graph.microsoft.com'],
    ['https://microsoftgraph.chinacloudapi.cn/v1.0/x', 'https://microsoftgraph.chinacloudapi.cn'],
  ])('without msgraph_host %s selects a known host', (endpoint, origin) =>
    expect(directoryOrigin(metadata, source(endpoint))).toBe(origin),
  );

  test.each([
    'https://evil.example/v1.0/users/o/getMemberObjects',
    'http://graph.microsoft.com/v1.0/x',
    'https://graph.microsoft.com.evil.example/x',
    'https://graph.microsoft.com:8443/x',
    'https://evil.example/?https://graph.microsoft.com/',
    'not a url',
    7,
    undefined,
  ])('without msgraph_host %s selects none', (endpoint) => expect(directoryOrigin(metadata, source(endpoint))).toBeUndefined());

  test.each(['evil.example/x', 'a@evil.example', 'https://graph.microsoft.com', 'evil.example?x', ''])(
    'an msgraph_host that is no host name is not used: %s',
    (host) => {
      expect(directoryOrigin({ ...metadata, msgraph_host: host }, source('https://graph.microsoft.com/x'))).toBeUndefined();
    },
  );
});
