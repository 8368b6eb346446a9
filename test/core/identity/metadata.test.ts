// What a way to log in needs of a provider's metadata: signing keys alone for tokens of machines, endpoints for people who sign in.
import { expect, test } from 'vitest';
import { fetchMetadata, issuerMetadata, signInMetadata } from '../../../core/identity/discovery.ts';
import type { Outbound } from '../../../core/outbound/outbound.ts';

const issuer = 'https://token.actions.githubusercontent.com';
/** As GitHub Actions describes itself: it has no endpoint at which anybody could sign in. */
const ofMachines = {
  issuer,
  jwks_uri: `${issuer}/.well-known/jwks`,
  subject_types_supported: ['public', 'pairwise'],
  response_types_supported: ['id_token'],
  id_token_signing_alg_values_supported: ['RS256'],
};
const ofPeople = { ...ofMachines, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };

/** A provider that answers this to every request. */
function answering(answer: object, status = 200): Outbound {
  return { fetch: async () => Response.json(answer, { status }), calls: [], deadline: () => AbortSignal.timeout(60_000) };
}

const service = { discoveryUrl: issuer };

test('a provider of tokens for machines needs an issuer and keys', async () => {
  const metadata = await fetchMetadata(issuerMetadata, service, answering(ofMachines), false);
  expect(metadata).toEqual({ issuer, jwks_uri: `${issuer}/.well-known/jwks`, id_token_signing_alg_values_supported: ['RS256'] });
  await expect(fetchMetadata(signInMetadata, service, answering(ofMachines), false)).rejects.toMatchObject({
    name: 'IdentityError',
    about: 'metadata',
    reason: 'metadata-malformed',
    fields: { members: ['authorization_endpoint', 'token_endpoint'] },
  });
});

test('for people it has endpoints beside them', async () => {
  const metadata = await fetchMetadata(signInMetadata, service, answering(ofPeople), false);
  expect(metadata).toMatchObject({ authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` });
  // Members that are not used are not passed on.
  expect(metadata).not.toHaveProperty('subject_types_supported');
});

test.each([
  ['issuer-mismatch', { ...ofMachines, issuer: 'https://evil.example' }, 200],
  ['endpoint-not-https', { ...ofMachines, jwks_uri: 'http://token.actions.githubusercontent.com/keys' }, 200],
  ['endpoint-not-https', { ...ofMachines, jwks_uri: 'https://user:secret@token.actions.githubusercontent.com/keys' }, 200],
  ['metadata-malformed', { issuer }, 200],
  ['metadata-not-found', ofMachines, 404],
])('for machines as for people: %s', async (reason, answer, status) => {
  await expect(fetchMetadata(issuerMetadata, service, answering(answer, status), false)).rejects.toMatchObject({ reason });
});

test('keys at another host are taken only where the settings name it', async () => {
  const elsewhere = answering({ ...ofMachines, jwks_uri: 'https://keys.example/jwks' });
  const at = (providerHosts: readonly string[]) => fetchMetadata(issuerMetadata, { ...service, providerHosts }, elsewhere, false);
  await expect(at([])).rejects.toMatchObject({ reason: 'endpoint-elsewhere', fields: { member: 'jwks_uri' } });
  expect(await at(['keys.example'])).toMatchObject({ jwks_uri: 'https://keys.example/jwks' });
});

test('an issuer that is not its address is taken only where the settings name exactly that one', async () => {
  // As Azure AD B2C describes itself.
  const discoveryUrl = 'https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration?p=B2C_1_signin';
  const own = 'https://contoso.b2clogin.com/0c3bd4f5-5a0e-4f4f-9c5e-6a5b1d3f2a10/v2.0/';
  const jwks_uri = 'https://contoso.b2clogin.com/contoso.onmicrosoft.com/discovery/v2.0/keys?p=b2c_1_signin';
  const asked = (expectedIssuer?: string) =>
    fetchMetadata(issuerMetadata, { discoveryUrl, expectedIssuer, providerHosts: [] }, answering({ issuer: own, jwks_uri }), false);
  await expect(asked()).rejects.toMatchObject({ reason: 'issuer-mismatch', fields: { issuer: own } });
  expect(await asked(own)).toEqual({ issuer: own, jwks_uri });
  for (const near of [own.slice(0, -1), own.toUpperCase(), discoveryUrl])
    await expect(asked(near)).rejects.toMatchObject({ reason: 'issuer-mismatch' });
});

test("Entra's keys of an application are asked for by its query, under the issuer of the directory", async () => {
  const directory = 'https://login.microsoftonline.com/0c3bd4f5-5a0e-4f4f-9c5e-6a5b1d3f2a10';
  const query = '?appid=6731de76-14a6-49ae-97bc-6eba6914391e';
  const jwks_uri = `${directory}/discovery/v2.0/keys${query}`;
  const asked: string[] = [];
  const outbound: Outbound = {
    ...answering({}),
    fetch: async (url) => (asked.push(String(url)), Response.json({ issuer: `${directory}/v2.0`, jwks_uri })),
  };
  const metadata = await fetchMetadata(issuerMetadata, { discoveryUrl: `${directory}/v2.0${query}`, providerHosts: [] }, outbound, false);
  expect(metadata).toEqual({ issuer: `${directory}/v2.0`, jwks_uri });
  expect(asked).toEqual([`${directory}/v2.0/.well-known/openid-configuration${query}`]);
});
