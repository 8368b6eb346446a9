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
