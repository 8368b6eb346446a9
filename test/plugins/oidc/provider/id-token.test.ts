// The ID token: R37 to R48, most of them faults that openid-client accepts by default.
import { equal } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { defined } from '../../../../core/base/defined.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, textOf, without, type OidcHarness } from '../harness.ts';
import { makeKey, sendJson, signToken, type Script, type SigningKey } from '../scripted-provider.ts';

const path = temporaryDirectory();
let harness: OidcHarness;
let key: SigningKey;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  await harness.setService();
  await harness.setRole('g1');
});
afterAll(() => harness.close());
beforeEach(() => {
  key = harness.provider.rotate();
  harness.takeLog();
});

type Json = Record<string, unknown>;

async function login(script: Script = {}): Promise<number> {
  harness.provider.script = { person: { groups: ['g1'] }, ...script };
  const browser = harness.browser();
  const { status, body } = await browser.login(harness.provider);
  // No refusal leaves a session.
  equal(browser.cookies.has('__Host-keystored-session'), status === 303);
  equal(textOf(body).includes('Reference'), status !== 303);
  return status;
}

async function expectRefused(script: Script, reason?: string): Promise<void> {
  expect(await login(script)).toBe(502);
  const [line, ...more] = harness.takeLog();
  expect(more).toEqual([]);
  expect(line).toMatchObject({ fields: { code: 'id-token-refused', stage: 'id-token', ...defined({ reason }) } });
}

const partsOf = (compact: string): [string, string, string] => compact.split('.') as [string, string, string];
const nowSeconds = (): number => Math.floor(harness.clock.now().epochMilliseconds / 1000);

test('a correct ID token is accepted', async () => {
  expect(await login()).toBe(303);
});

describe('R37: the form', () => {
  test('is required', () => expectRefused({ tokenResponse: (body) => without(body, 'id_token') }));
  test.each([
    ['empty', ''],
    ['two parts', 'a.b'],
    ['four parts', 'a.b.c.d'],
    ['five parts, a JWE', 'eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.a.b.c.d'],
    ['no base64url', '!!!.###.$$$'],
    ['a list of tokens', ['a.b.c']],
    ['an object', { alg: 'RS256' }],
  ])('%s is refused', async (_, token) => {
    expect(await login({ idToken: () => token })).toBe(502);
  });
  test('nested tokens are refused', () =>
    expectRefused({
      header: (header) => ({ ...header, cty: 'JWT' }),
      idToken: (compact) => `${partsOf(compact)[0]}.${Buffer.from(`"${compact}"`).toString('base64url')}.${partsOf(compact)[2]}`,
    }));
});

describe('R38: the signature', () => {
  test('flipped', () =>
    expectRefused({
      idToken: (compact) => {
        const [header, payload, signature] = partsOf(compact);
        const octets = Buffer.from(signature, 'base64url');
        octets[10] = (octets[10] ?? 0) ^ 1;
        return `${header}.${payload}.${octets.toString('base64url')}`;
      },
    }));
  test('cut', () => expectRefused({ idToken: (compact) => compact.slice(0, -8) }));
  test('missing', () => expectRefused({ idToken: (compact) => `${partsOf(compact)[0]}.${partsOf(compact)[1]}.` }));
  test('of a foreign key under the right kid', () => expectRefused({ key: makeKey('RS256', key.kid) }));
  test('over other claims', () =>
    expectRefused({
      idToken: (compact) => {
        const [header, payload, signature] = partsOf(compact);
        const claims = { ...(JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json), sub: 'admin' };
        return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
      },
    }));
  test('with a key inside the token', () => {
    const own = makeKey('RS256', 'mine');
    return expectRefused({ key: own, header: (header) => ({ ...header, jwk: own.publicJwk, kid: 'mine' }) });
  });
  test('with a key list that the token names', () =>
    expectRefused({
      key: makeKey('RS256', 'mine'),
      header: (header) => ({ ...header, jku: `${harness.provider.origin}/jwks`, kid: 'mine' }),
    }));
});

function expectHmacRefused(secret: () => string): Promise<void> {
  return expectRefused({
    idToken: (compact) => {
      const claims = JSON.parse(Buffer.from(partsOf(compact)[1], 'base64url').toString()) as Json;
      return signToken({ alg: 'HS256', kid: key.kid }, claims, key, secret());
    },
  });
}

const onlyRs256 = (metadata: Json): Json => ({ ...metadata, id_token_signing_alg_values_supported: ['RS256'] });

describe('R39: algorithms', () => {
  test.each(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const)('%s is accepted', async (algorithm) => {
    harness.provider.rotate(algorithm);
    expect(await login()).toBe(303);
  });
  test.each(['none', 'None', 'NONE'])('alg %s is refused, although the metadata lists none', (alg) =>
    expectRefused({ idToken: (compact) => `${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.${partsOf(compact)[1]}.` }),
  );
  test('HS256 with the client secret is refused, although the metadata lists it', () =>
    expectHmacRefused(() => harness.provider.clientSecret));
  test('HS256 with the public key as secret is refused', () => expectHmacRefused(() => JSON.stringify(key.publicJwk)));
  test('HS256 with nothing is refused', () => expectHmacRefused(() => ''));
  test('an algorithm the metadata does not list is refused', async () => {
    harness.provider.rotate('PS256');
    harness.provider.script = { metadata: onlyRs256 };
    await harness.setService();
    await expectRefused({ metadata: onlyRs256 });
    harness.provider.script = {};
    await harness.setService();
  });
  test('alg missing, or not a string', async () => {
    await expectRefused({ header: (header) => without(header, 'alg') });
    await expectRefused({ header: (header) => ({ ...header, alg: ['RS256'] }) });
  });
  test.each<[string, (jwk: Json) => Json]>([
    ['for encryption', (jwk: Json) => ({ ...jwk, use: 'enc' })],
    ['of another algorithm', (jwk: Json) => ({ ...jwk, alg: 'PS256' })],
    ['that may not verify', (jwk: Json) => ({ ...jwk, key_ops: ['encrypt'] })],
    ['of another type', () => ({ ...makeKey('ES256', 'x').publicJwk, kid: key.kid, alg: undefined })],
    ['that is no key', () => ({ kid: key.kid, kty: 'RSA', use: 'sig' })],
  ])('a key %s does not fit', async (_, change) => {
    expect(await login({ jwks: (keys) => keys.map(change) })).toBe(502);
  });
  test('a symmetric key in the list is not used', async () => {
    expect(await login({ jwks: () => [{ kty: 'oct', k: 'AAAA', kid: key.kid }] })).toBe(502);
  });
});

describe('R40: keys', () => {
  test('rotated between two logins: the second works at once', async () => {
    expect(await login()).toBe(303);
    harness.provider.rotate();
    expect(await login()).toBe(303);
    harness.provider.rotate('ES256');
    expect(await login()).toBe(303);
  });
  test('rotated just before signing, after the login began', async () => {
    const browser = harness.browser();
    harness.provider.script = { person: { groups: ['g1'] } };
    const begun = await browser.start();
    harness.provider.rotate();
    const back = new URL(harness.provider.authorize(begun));
    expect((await browser.get(back.pathname + back.search)).status).toBe(303);
  });
  test('each login fetches the keys exactly once', async () => {
    const before = harness.provider.requestsTo('/jwks').length;
    await login();
    expect(harness.provider.requestsTo('/jwks')).toHaveLength(before + 1);
    await login({ header: (header) => ({ ...header, kid: 'unknown' }) });
    expect(harness.provider.requestsTo('/jwks')).toHaveLength(before + 2);
  });
  test('an unknown kid is refused', () => expectRefused({ header: (header) => ({ ...header, kid: 'unknown' }) }, 'no-single-key'));
  test('no kid and one fitting key: accepted', async () => {
    expect(await login({ header: (header) => without(header, 'kid') })).toBe(303);
  });
  test('no kid and several fitting keys: refused', () => {
    const second = makeKey('RS256', 'second').publicJwk;
    return expectRefused({ header: (header) => without(header, 'kid'), jwks: (keys) => [...keys, second] }, 'no-single-key');
  });
  test('a key list on another address of the metadata is followed', async () => {
    harness.provider.script = { metadata: (metadata) => ({ ...metadata, jwks_uri: `${harness.provider.origin}/keys-2` }) };
    await harness.setService();
    expect(
      await login({
        ...harness.provider.script,
        respond: { '/keys-2': (_request, response) => sendJson(response, { keys: [key.publicJwk] }) },
      }),
    ).toBe(303);
    harness.provider.script = {};
    await harness.setService();
  });
  test.each([
    ['HTML', '<html>'],
    ['an empty list', '{"keys":[]}'],
    ['no list', '{}'],
    ['keys that are none', '{"keys":[1,null,"x"]}'],
  ])('a key list that is %s', async (_, body) => {
    expect(
      await login({
        respond: { '/jwks': (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body) },
      }),
    ).toBe(502);
  });
});

test('R41: crit is refused', async () => {
  await expectRefused({ header: (header) => ({ ...header, crit: ['b64'], b64: false }) });
  await expectRefused({ header: (header) => ({ ...header, crit: [] }) });
});

describe('R42: iss', () => {
  test.each([
    ['another', () => 'https://evil.test'],
    ['with a slash', (issuer: string) => `${issuer}/`],
    ['in capitals', (issuer: string) => issuer.toUpperCase()],
    ['missing', () => undefined],
    ['a list', (issuer: string) => [issuer]],
    ['a template', () => 'https://login.microsoftonline.com/{tenantid}/v2.0'],
  ])('%s is refused', (_, change) => expectRefused({ claims: (claims) => ({ ...claims, iss: change(harness.provider.issuer) }) }));
});

const me = (): string => harness.provider.clientId;

describe('R43: aud and azp', () => {
  test.each<[string, () => Json, number]>([
    ['another client', () => ({ aud: 'other' }), 502],
    ['missing', () => ({ aud: undefined }), 502],
    ['an empty list', () => ({ aud: [] }), 502],
    ['this client in capitals', () => ({ aud: me().toUpperCase() }), 502],
    ['a list with this client alone', () => ({ aud: [me()] }), 303],
    ['several, without azp', () => ({ aud: [me(), 'other'] }), 502],
    ['several, azp another', () => ({ aud: [me(), 'other'], azp: 'other' }), 502],
    ['several, azp this client', () => ({ aud: [me(), 'other'], azp: me() }), 303],
    ['one, azp another', () => ({ azp: 'other' }), 502],
    ['one, azp this client', () => ({ azp: me() }), 303],
  ])('%s', async (_, changes, status) => {
    expect(await login({ claims: (claims) => ({ ...claims, ...changes() }) })).toBe(status);
  });
});

describe('R44: exp, iat, sub and nonce are present and of their type', () => {
  test.each<[string, Json]>([
    ['sub missing', { sub: undefined }],
    ['sub empty', { sub: '' }],
    ['sub too long', { sub: 'x'.repeat(256) }],
    ['sub a number', { sub: 7 }],
    ['exp missing', { exp: undefined }],
    ['exp a text', { exp: 'tomorrow' }],
    ['iat missing', { iat: undefined }],
    ['iat a text', { iat: 'now' }],
    ['nonce a number', { nonce: 7 }],
  ])('%s is refused', (_, changes) => expectRefused({ claims: (claims) => ({ ...claims, ...changes }) }));
});

describe('R45: times, with 60 s of tolerance', () => {
  test.each<[string, () => Json, number]>([
    ['expired 59 s ago', () => ({ exp: nowSeconds() - 55 }), 303],
    ['expired 61 s ago', () => ({ exp: nowSeconds() - 65 }), 502],
    ['not before in 55 s', () => ({ nbf: nowSeconds() + 55 }), 303],
    ['not before in 65 s', () => ({ nbf: nowSeconds() + 65 }), 502],
    ['issued in 55 s', () => ({ iat: nowSeconds() + 55 }), 303],
    ['issued in 65 s', () => ({ iat: nowSeconds() + 65 }), 502],
    ['issued an hour and a half ago', () => ({ iat: nowSeconds() - 5_400 }), 502],
  ])('%s', async (_, changes, status) => {
    expect(await login({ claims: (claims) => ({ ...claims, ...changes() }) })).toBe(status);
  });
  test('clock-tolerance of the service is used', async () => {
    await harness.setService({ 'clock-tolerance': '5m' });
    expect(await login({ claims: (claims) => ({ ...claims, exp: nowSeconds() - 280 }) })).toBe(303);
    await harness.setService({ 'clock-tolerance': '0s' });
    expect(await login({ claims: (claims) => ({ ...claims, exp: nowSeconds() - 5 }) })).toBe(502);
    await harness.setService();
  });
  test('the appliance’s clock is used, not the machine’s', async () => {
    harness.clock.advance(86_400);
    expect(await login()).toBe(303);
    expect(
      await login({ claims: (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) + 3_600, iat: Math.floor(Date.now() / 1000) }) }),
    ).toBe(502);
  });
});

describe('R46: nonce', () => {
  test('of another login', () => expectRefused({ claims: (claims) => ({ ...claims, nonce: 'other' }) }));
  test('missing', () => expectRefused({ claims: (claims) => without(claims, 'nonce') }));
  test('a token that was made for the login before is refused', async () => {
    let first = '';
    expect(await login({ idToken: (compact) => (first = compact) })).toBe(303);
    await expectRefused({ idToken: () => first });
  });
});

const half = (text: string): string => createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

describe('R47: at_hash', () => {
  test('of this access token', async () => {
    expect(await login({ accessToken: 'the-token', claims: (claims) => ({ ...claims, at_hash: half('the-token') }) })).toBe(303);
  });
  test('of another access token', () =>
    expectRefused({ accessToken: 'the-token', claims: (claims) => ({ ...claims, at_hash: half('another') }) }, 'at-hash-mismatch'));
});

test('R48: claims in the access token are ignored', async () => {
  const forged = signToken({ alg: 'none' }, { sub: 'admin', groups: ['g1'], iss: harness.provider.issuer }, key);
  expect(await login({ accessToken: forged, person: { groups: [] } })).toBe(403);
});
