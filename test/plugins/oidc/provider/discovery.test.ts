// The URL of a provider's metadata, and the check of its issuer: R1 to R4, and the redirect URIs of R7 and R17.
import { formatPem } from '../../../../core/base/texts/pem.ts';
import { describe, expect, test } from 'vitest';
import { findDiscoveryUrlProblem, issuerBelongsTo, metadataUrl } from '../../../../core/identity/discovery.ts';
import { chooseRedirectUri } from '../../../../plugins/oidc/records/service-record.ts';
import { findRedirectUriProblem } from '../../../../plugins/oidc/settings/service.ts';
import { secureContextOf, trustedCertificates } from '../../../../core/outbound/trust.ts';

describe('R1: discovery-url', () => {
  test.each([
    'https://idp.example.com',
    'https://idp.example.com/realms/x/',
    'https://idp.example.com:8443/a/.well-known/openid-configuration',
    'https://login.microsoftonline.com/x/v2.0?appid=0c3bd4f5-5a0e-4f4f-9c5e-6a5b1d3f2a10',
    'https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration?p=B2C_1_signin',
  ])('%s is accepted', (url) => expect(findDiscoveryUrlProblem(url, false)).toBeUndefined());

  test.each([
    'idp.example.com',
    '/.well-known/openid-configuration',
    'ftp://idp.example.com/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://idp.example.com/',
    'https://user:secret@idp.example.com/',
    'https://idp.example.com/?tenant=x',
    'https://idp.example.com/?',
    'https://idp.example.com/?appid=x',
    'https://idp.example.com/?p=a&p=b',
    'https://idp.example.com/?p=%2e',
    'https://idp.example.com/#x',
    ' https://idp.example.com/',
    'https://idp.example.com/\n',
    'https://idp.exa\tmple.com/',
    '',
  ])('%s is refused', (url) => expect(findDiscoveryUrlProblem(url, false)).toBeDefined());

  test('http is accepted for loopback hosts only, and only when the configuration allows it', () => {
    for (const host of ['localhost:8080', '127.0.0.1:8080', '127.8.9.10', '[::1]:8080']) {
      expect(findDiscoveryUrlProblem(`http://${host}/`, false)).toMatch(/allow-http-loopback/);
      expect(findDiscoveryUrlProblem(`http://${host}/`, true)).toBeUndefined();
    }
    for (const host of ['localhost.example.com', '127.0.0.1.example.com', '10.0.0.1', '[::2]']) {
      expect(findDiscoveryUrlProblem(`http://${host}/`, true)).toBeDefined();
    }
  });
});

test('R2: with or without the well-known suffix', () => {
  const expected = 'https://idp.example.com/realms/x/.well-known/openid-configuration';
  for (const given of ['https://idp.example.com/realms/x', 'https://idp.example.com/realms/x/', expected])
    expect(metadataUrl(given).href).toBe(expected);
});

describe('R3: the issuer belongs to the discovery URL', () => {
  const url = 'https://idp.example.com/realms/x';
  test('with or without one slash at its end', () => {
    expect(issuerBelongsTo('https://idp.example.com/realms/x', url)).toBe(true);
    expect(issuerBelongsTo('https://idp.example.com/realms/x/', url)).toBe(true);
  });
  test('a query of the URL is no part of it, and stays in the address of the metadata', () => {
    const asked = 'https://login.microsoftonline.com/x/v2.0?appid=0c3bd4f5-5a0e-4f4f-9c5e-6a5b1d3f2a10';
    expect(issuerBelongsTo('https://login.microsoftonline.com/x/v2.0', asked)).toBe(true);
    expect(issuerBelongsTo(asked, asked)).toBe(false);
    expect(metadataUrl(asked).href).toBe(asked.replace('?', '/.well-known/openid-configuration?'));
  });
  test.each([
    'https://evil.example/realms/x',
    'https://idp.example.com/realms/y',
    'https://idp.example.com/realms/x//',
    'https://idp.example.com',
    'https://IDP.example.com/realms/x',
    'http://idp.example.com/realms/x',
    'https://login.microsoftonline.com/{tenantid}/v2.0',
    '',
  ])('%s does not', (issuer) => expect(issuerBelongsTo(issuer, url)).toBe(false));

  // The text that was asked for counts (Discovery 4.3), not what the URL parser makes of it.
  test.each([
    'https://idp.example.com:443/realms/x',
    'https://IDP.Example.com/realms/x',
    'HTTPS://idp.example.com/realms/x',
    'https://münchen.example/realms/x',
    'https://ｉｄｐ.example.com/realms/x',
    'https://idp.example.com/realms/ü',
    'https://idp.example.com/realms/%C3%BC/../y',
    'https://127.1/realms/x',
    'https://idp.example.com:443',
  ])('%s as it is written, with and without slash and suffix, and as the URL parser writes it', (written) => {
    const suffix = '/.well-known/openid-configuration';
    for (const given of [written, `${written}/`, written + suffix]) {
      expect(findDiscoveryUrlProblem(given, false)).toBeUndefined();
      for (const issuer of [written, `${written}/`, new URL(written).href]) expect(issuerBelongsTo(issuer, given)).toBe(true);
      for (const other of [`${written}//`, written.toUpperCase(), `${written}x`]) expect(issuerBelongsTo(other, given)).toBe(false);
    }
  });

  test('another spelling of the same address does not, until discovery-url has it', () => {
    for (const issuer of [
      'https://idp.example.com:443/realms/x',
      'https://IDP.example.com/realms/x',
      'https://idp.example.com/realms/%78',
    ]) {
      expect(issuerBelongsTo(issuer, url)).toBe(false);
      expect(issuerBelongsTo(issuer, issuer)).toBe(true);
    }
  });
});

describe('R4: endpoints that any directory could use', () => {
  test.each(['common', 'organizations', 'consumers', 'Common'])('/%s is refused', (directory) => {
    expect(findDiscoveryUrlProblem(`https://login.microsoftonline.com/${directory}/v2.0`, false)).toMatch(/one directory/);
    expect(findDiscoveryUrlProblem(`https://login.microsoftonline.us/${directory}/v2.0`, false)).toBeDefined();
  });
  test('one directory, and other hosts with such a path, are accepted', () => {
    expect(findDiscoveryUrlProblem('https://login.microsoftonline.com/0c3bd4f5-0000-4000-8000-000000000001/v2.0', false)).toBeUndefined();
    expect(findDiscoveryUrlProblem('https://idp.example.com/common/', false)).toBeUndefined();
  });
});

describe('R7: redirect URIs', () => {
  test.each(['https://keys.example.com/oidc-callback', 'https://127.0.0.1:4646/oidc-callback', 'http://localhost:8080/oidc-callback'])(
    '%s is accepted',
    (uri) => expect(findRedirectUriProblem(uri)).toBeUndefined(),
  );
  test.each([
    'http://keys.example.com/oidc-callback',
    'https://keys.example.com/oidc-callback/',
    'https://keys.example.com/OIDC-callback',
    'https://keys.example.com/x/oidc-callback',
    'https://keys.example.com/oidc-callback?x=1',
    'https://keys.example.com/oidc-callback#x',
    'https://*.example.com/oidc-callback',
    'https://user@keys.example.com/oidc-callback',
    'https://KEYS.example.com/oidc-callback',
    'https://keys.example.com:443/oidc-callback',
    'https://keys.example.com/a/../oidc-callback',
    '/oidc-callback',
  ])('%s is refused', (uri) => expect(findRedirectUriProblem(uri)).toBeDefined());
});

test('R17: the redirect URI is the one of the configured address, else the first', () => {
  const uris = ['https://a.example/oidc-callback', 'https://b.example/oidc-callback'];
  expect(chooseRedirectUri(uris, 'https://b.example')).toBe(uris[1]);
  expect(chooseRedirectUri(uris, 'https://c.example')).toBe(uris[0]);
});

test('R8: without roots and own certificates no CA is trusted; with both, both are', () => {
  expect(trustedCertificates({ useRootCaCerts: false, caCerts: undefined })).toEqual([]);
  const own = formatPem('CERTIFICATE', Uint8Array.of(0x30, 0));
  expect(trustedCertificates({ useRootCaCerts: false, caCerts: own.replaceAll('\n', '\r') })).toEqual([own]);
  expect(trustedCertificates({ useRootCaCerts: true, caCerts: undefined })).toBeUndefined();
  const both = trustedCertificates({ useRootCaCerts: true, caCerts: own }) ?? [];
  expect(both).toContain(own);
  expect(both.length).toBeGreaterThan(50);
});

test('R8: a trust set is read once, other sets get other contexts, and the cache is bounded', () => {
  const trust = (number: number) => ({ useRootCaCerts: false, caCerts: `# ${number}` });
  const first = secureContextOf(trust(0));
  expect(secureContextOf(trust(0))).toBe(first);
  expect(secureContextOf({ useRootCaCerts: false })).not.toBe(first);
  for (let number = 1; number <= 32; number += 1) secureContextOf(trust(number));
  expect(secureContextOf(trust(0))).not.toBe(first);
});
