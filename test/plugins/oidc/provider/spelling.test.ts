// What providers write in their own way: addresses that the URL parser writes otherwise (R3, R5), and null or nothing for what is absent (R36).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, type OidcHarness } from '../harness.ts';
import { makeKey, type Script } from '../scripted-provider.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
});
afterAll(() => harness.close());
beforeEach(async () => {
  harness.provider.script = {};
  await harness.setService();
  await harness.setRole('g1');
  harness.takeLog();
});

type Json = Record<string, unknown>;

/** A sign-in with a provider that was not asked before. */
async function login(script: Script, fields: Json = {}): Promise<number> {
  harness.provider.script = { person: { groups: ['g1'] }, ...script };
  await harness.setService(fields);
  const browser = harness.browser();
  const start = await browser.get('/login/system/corp');
  if (start.status !== 303) return start.status;
  const back = new URL(harness.provider.authorize(String(start.headers['location'])));
  return (await browser.get(back.pathname + back.search)).status;
}

/** A provider that calls itself so, everywhere. */
function calledSo(issuer: string): Script {
  return {
    metadata: (metadata) => ({ ...metadata, issuer }),
    callback: (parameters) => parameters.set('iss', issuer),
    claims: (claims) => ({ ...claims, iss: issuer }),
  };
}

describe('R3: an issuer that the URL parser writes otherwise', () => {
  const spellings: readonly (readonly [string, (origin: string) => string])[] = [
    ['capitals in the scheme', (origin) => origin.replace('https', 'HTTPS')],
    ['a host that is not ASCII', (origin) => origin.replace('127', '１２７')],
    ['a short form of the host', (origin) => origin.replace('127.0.0.1', '127.1')],
    ['a path with dots', (origin) => `${origin}/realm/..`],
  ];

  test.each(spellings)('%s: people sign in where discovery-url has the same text', async (_, spell) => {
    const issuer = spell(harness.provider.origin);
    expect(issuer).not.toBe(harness.provider.origin);
    for (const url of [issuer, `${issuer}/.well-known/openid-configuration`])
      expect(await login(calledSo(issuer), { 'discovery-url': url })).toBe(303);
    expect(await login({ ...calledSo(issuer), claims: (claims) => claims }, { 'discovery-url': issuer })).toBe(502);
  });

  test.each(spellings)('%s: with another text the hint says what to write, and that works', async (_, spell) => {
    const issuer = spell(harness.provider.origin);
    expect(await login(calledSo(issuer))).toBe(502);
    const [line] = harness.takeLog();
    expect(line?.fields).toMatchObject({ reason: 'issuer-mismatch', issuer });
    const [, advised = ''] =
      /issuer (\S+), the same address .*set discovery-url to exactly that text/.exec(String(line?.fields['hint'])) ?? [];
    expect(await login(calledSo(issuer), { 'discovery-url': advised })).toBe(303);
  });

  test.each([
    ['without TLS', (origin: string) => origin.replace('https', 'http')],
    ['with a query', (origin: string) => `${origin}/?realm=x`],
    ['with a blank', (origin: string) => `${origin} `],
  ])('an issuer %s is to be corrected at the provider, and not to be written here', async (_, spell) => {
    const issuer = spell(harness.provider.origin);
    expect(await login(calledSo(issuer))).toBe(502);
    expect(harness.takeLog()).toMatchObject([{ fields: { hint: expect.stringMatching(/cannot be used.*correct it at the provider/) } }]);
  });
});

describe('R5: endpoints that the URL parser writes otherwise', () => {
  const spelled = (member: string): Script => ({
    metadata: (metadata) => ({ ...metadata, [member]: String(metadata[member]).replace('https://127.0.0.1', 'HTTPS://127.1') }),
  });
  const onlyInUserInfo: Script = { claims: (claims) => ({ ...claims, groups: undefined }) };

  test.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'])('%s is called', async (member) => {
    expect(await login({ ...spelled(member), ...onlyInUserInfo })).toBe(303);
  });

  test('keys are judged, however their address is written', async () => {
    // With the neutral point as key, the neutral point and zero sign everything (RFC 8032 section 5.1.7).
    const neutral = Buffer.from([1, ...Buffer.alloc(31)]);
    const forged = Buffer.concat([neutral, Buffer.alloc(32)]).toString('base64url');
    const weak: Script = {
      jwks: () => [{ kty: 'OKP', crv: 'Ed25519', x: neutral.toString('base64url'), kid: 'weak' }],
      header: (header) => ({ ...header, alg: 'EdDSA', kid: 'weak' }),
      idToken: (compact) => [...compact.split('.').slice(0, 2), forged].join('.'),
    };
    for (const script of [weak, { ...weak, ...spelled('jwks_uri') }]) {
      expect(await login(script)).toBe(502);
      expect(harness.takeLog()).toMatchObject([{ fields: { reason: 'no-single-key' } }]);
    }
  });

  test('provider-hosts takes the port 443 and an address of IPv6', async () => {
    const at = (host: string): Script => ({ metadata: (metadata) => ({ ...metadata, token_endpoint: `https://${host}/token` }) });
    for (const [host, named] of [
      ['elsewhere.example', 'elsewhere.example:443'],
      ['elsewhere.example:443', 'elsewhere.example'],
      ['[2001:db8::1]:8443', '[2001:db8::1]:8443'],
    ] as const) {
      harness.provider.script = at(host);
      await harness.setService({ 'provider-hosts': ['other.example', named] });
      expect((await harness.browser().get('/login/system/corp')).status).toBe(303);
      await harness.setService({ 'provider-hosts': ['other.example'] });
      expect((await harness.browser().get('/login/system/corp')).status).toBe(502);
    }
  });
});

const optional = [
  ...['userinfo_endpoint', 'end_session_endpoint', 'token_endpoint_auth_methods_supported', 'id_token_signing_alg_values_supported'],
  ...['userinfo_signing_alg_values_supported', 'code_challenge_methods_supported', 'prompt_values_supported', 'msgraph_host'],
  ...['authorization_response_iss_parameter_supported', 'scopes_supported', 'registration_endpoint'],
];

describe('R36: what is null or empty is absent', () => {
  test.each([[null], [''], [[]]])('%j for every optional member of the metadata', async (nothing) => {
    const script: Script = { metadata: (metadata) => ({ ...metadata, ...Object.fromEntries(optional.map((name) => [name, nothing])) }) };
    expect(await login(script)).toBe(303);
    expect(await login({ ...script, callback: (parameters) => parameters.delete('iss') })).toBe(303);
  });

  test.each(['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri'])('%s is required', async (member) => {
    for (const nothing of [null, '']) {
      expect(await login({ metadata: (metadata) => ({ ...metadata, [member]: nothing }) })).toBe(502);
      expect(harness.takeLog()).toMatchObject([{ fields: { reason: 'metadata-malformed', members: [member] } }]);
    }
  });

  test.each(['expires_in', 'refresh_token', 'scope', 'refresh_expires_in', 'session_state'])('%s of the token answer', async (member) => {
    for (const nothing of [null, '', {}]) expect(await login({ tokenResponse: (body) => ({ ...body, [member]: nothing }) })).toBe(303);
  });

  test.each(['access_token', 'token_type', 'id_token'])('%s of the token answer is required', async (member) => {
    for (const nothing of [null, '']) expect(await login({ tokenResponse: (body) => ({ ...body, [member]: nothing }) })).toBe(502);
  });

  test('members of a key', async () => {
    const nothing = { use: null, alg: null, key_ops: null, x5c: null, x5t: '' };
    harness.provider.rotate();
    expect(await login({ jwks: (keys) => keys.map((key) => ({ ...key, ...nothing })) })).toBe(303);
    expect(await login({ jwks: (keys) => keys.map((key) => ({ ...key, ...nothing })), key: makeKey('RS256', 'other') })).toBe(502);
  });

  test('a claim of the ID token that UserInfo has', async () => {
    const script: Script = { claims: (claims) => ({ ...claims, groups: null, _claim_names: null }) };
    expect(await login(script)).toBe(303);
    expect(harness.takeLog()).toEqual([]);
    expect(await login({ ...script, userinfo: (claims) => ({ ...claims, groups: null }) })).toBe(403);
  });
});
