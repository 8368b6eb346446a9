// Sign-ins in the shapes of providers that differ from the rest: whose keys, issuers, roles and missing groups are elsewhere than usual.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, textOf, type OidcHarness } from '../harness.ts';
import { makeKey, sendJson, type Responder, type Script } from '../scripted-provider.ts';

const path = temporaryDirectory();
const appId = '6731de76-14a6-49ae-97bc-6eba6914391e';
const directoryId = '0c3bd4f5-5a0e-4f4f-9c5e-6a5b1d3f2a10';
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  await harness.setService();
  for (const name of ['admin', 'guest']) await harness.setRole(name);
});
afterAll(() => harness.close());
beforeEach(() => harness.takeLog());

/** Metadata of a provider whose endpoints are below `base` and carry this query. */
const metadataAt = (base: string, issuer: string, query = ''): Record<string, unknown> => ({
  issuer,
  authorization_endpoint: `${base}/authorize${query}`,
  token_endpoint: `${base}/token${query}`,
  jwks_uri: `${base}/discovery/keys${query}`,
  response_types_supported: ['code', 'id_token'],
  subject_types_supported: ['pairwise'],
  id_token_signing_alg_values_supported: ['RS256'],
  token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
});

type Shape = { readonly fields: Record<string, unknown>; readonly script: Script };

async function signIn({ fields, script }: Shape) {
  await harness.setService(fields);
  harness.provider.script = script;
  harness.takeLog();
  const { status, body } = await harness.browser().login(harness.provider);
  return { status, text: textOf(body), log: harness.takeLog() };
}

const rolesOfLast = (): unknown => (harness.loginRecords().at(-1)?.['request-parameters'] as { roles?: unknown } | undefined)?.roles;
/** A callback without `iss`: these providers do not send it. */
const callback = (parameters: URLSearchParams): void => parameters.delete('iss');

describe('Entra with signing keys of the application', () => {
  const own = makeKey('RS256', 'application');
  const common = makeKey('RS256', 'directory');

  function shape(query: string): Shape {
    const base = `${harness.provider.origin}/${directoryId}`;
    const issuer = `${base}/v2.0`;
    const metadata: Responder = (request, response) =>
      sendJson(response, { ...metadataAt(base, issuer, request.query), token_endpoint: `${harness.provider.origin}/token` });
    const keys: Responder = ({ query: asked }, response) =>
      sendJson(response, { keys: [(asked === `?appid=${appId}` ? own : common).publicJwk] });
    return {
      fields: { 'discovery-url': `${issuer}/.well-known/openid-configuration${query}` },
      script: {
        ...{ callback, key: own, claims: (claims) => ({ ...claims, iss: issuer, groups: ['admin'] }) },
        respond: {
          [`/${directoryId}/v2.0/.well-known/openid-configuration`]: metadata,
          [`/${directoryId}/discovery/keys`]: keys,
        },
      },
    };
  }

  test('appid at discovery has it answer those keys, and tokens verify', async () => {
    expect(await signIn(shape(`?appid=${appId}`))).toMatchObject({ status: 303, log: [] });
    expect(rolesOfLast()).toEqual(['admin']);
    const asked = harness.provider.requestsTo(`/${directoryId}/discovery/keys`);
    expect(asked.at(-1)?.query).toBe(`?appid=${appId}`);
  });

  test('without it no key fits, and the sign-in is refused', async () => {
    const answer = await signIn(shape(''));
    expect(answer).toMatchObject({ status: 502, log: [{ fields: { code: 'id-token-refused', reason: 'no-single-key' } }] });
  });
});

describe('Azure AD B2C and Entra External ID name an issuer that is not their address', () => {
  function shape(place: string, issuerPath: string, query: string, expected: boolean): Shape {
    const { origin } = harness.provider;
    const base = `${origin}${place}`;
    const issuer = `${origin}${issuerPath}`;
    return {
      fields: {
        'discovery-url': `${base}/v2.0/.well-known/openid-configuration${query}`,
        ...(expected ? { 'expected-issuer': issuer } : {}),
      },
      script: {
        ...{ callback, claims: (claims) => ({ ...claims, iss: issuer, groups: ['admin'] }) },
        respond: {
          [`${place}/v2.0/.well-known/openid-configuration`]: (_request, response) =>
            sendJson(response, {
              ...metadataAt(base, issuer, query),
              jwks_uri: `${origin}/jwks`,
              token_endpoint: `${origin}/token${query}`,
            }),
        },
      },
    };
  }

  test.each([
    ['B2C, a policy in the path', '/contoso.onmicrosoft.com/B2C_1_signin', `/${directoryId}/v2.0/`, ''],
    ['B2C, a policy in the query', '/contoso.onmicrosoft.com', `/${directoryId}/v2.0/`, '?p=B2C_1_signin'],
    ['External ID', '/contoso', `/${directoryId}/v2.0`, ''],
  ])('%s', async (_, place, issuerPath, query) => {
    const without = await signIn(shape(place, issuerPath, query, false)).catch((error: unknown) => ({
      status: 0,
      text: String(error),
      log: [],
    }));
    expect(without.status).not.toBe(303);
    expect(await signIn(shape(place, issuerPath, query, true))).toMatchObject({ status: 303, log: [] });
    expect(rolesOfLast()).toEqual(['admin']);
    expect(harness.provider.requestsTo('/token').at(-1)?.query).toBe(query);
  });

  test('every character of the issuer counts, of the metadata and of tokens', async () => {
    const { fields, script } = shape('/contoso.onmicrosoft.com/B2C_1_signin', `/${directoryId}/v2.0/`, '', true);
    const start = async (change: object) => {
      await harness.setService({ ...fields, ...change });
      harness.provider.script = script;
      return (await harness.browser().get('/login/system/corp')).status;
    };
    expect(await start({})).toBe(303);
    expect(await start({ 'expected-issuer': String(fields['expected-issuer']).replace(/\/$/, '') })).toBe(502);
    const other = {
      ...script,
      claims: (claims: Record<string, unknown>) => ({ ...claims, iss: `${harness.provider.origin}/x/v2.0/`, groups: ['admin'] }),
    };
    expect(await signIn({ fields, script: other })).toMatchObject({ status: 502, log: [{ fields: { code: 'id-token-refused' } }] });
  });
});

describe('roles that are not a list at the top', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, readonly string[] | undefined]>([
    [
      'Zitadel: the keys of an object',
      { 'role-claim': 'urn:zitadel:iam:org:project:roles', 'keys-of-object': true },
      { 'urn:zitadel:iam:org:project:roles': { admin: { '223281986649719041': 'acme.zitadel.cloud' }, viewer: {} } },
      ['admin'],
    ],
    [
      'Zitadel without keys-of-object',
      { 'role-claim': 'urn:zitadel:iam:org:project:roles' },
      { 'urn:zitadel:iam:org:project:roles': { admin: { '223281986649719041': 'acme.zitadel.cloud' } } },
      undefined,
    ],
    [
      'Keycloak: roles of the realm',
      { 'role-claim': '/realm_access/roles' },
      { realm_access: { roles: ['offline_access', 'admin'] } },
      ['admin'],
    ],
    [
      'Keycloak: roles of a client whose name has a slash',
      { 'role-claim': '/resource_access/team~1keystore/roles' },
      { resource_access: { 'team/keystore': { roles: ['admin'] }, account: { roles: ['guest'] } } },
      ['admin'],
    ],
    [
      'Auth0: a claim whose name is a URL',
      { 'role-claim': 'https://acme.example/roles' },
      { 'https://acme.example/roles': ['admin'] },
      ['admin'],
    ],
    ['Cognito', { 'role-claim': 'cognito:groups' }, { 'cognito:groups': ['admin'] }, ['admin']],
  ])('%s', async (_, roleSelect, person, roles) => {
    const { status } = await signIn({ fields: { 'role-select': roleSelect }, script: { person } });
    expect([status, rolesOfLast()]).toEqual([roles === undefined ? 403 : 303, roles]);
  });
});

describe('role-without-groups', () => {
  const fields = { 'role-select': { 'role-claim': 'groups', 'role-without-groups': 'guest' } };

  test.each<[string, Record<string, unknown>]>([
    ['Keycloak and Entra leave the claim out', {}],
    ['others send an empty list', { groups: [] }],
    ['or null', { groups: null }],
  ])('%s', async (_, person) => {
    expect((await signIn({ fields, script: { person } })).status).toBe(303);
    expect(rolesOfLast()).toEqual(['guest']);
  });

  test.each<[string, Record<string, unknown>]>([
    ['who has groups that are no roles', { groups: ['other'] }],
    [
      'whose groups are too many',
      { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.windows.net/x' } } },
    ],
    ['whose groups are too many, in the implicit form', { hasgroups: true }],
  ])('is not for people %s', async (_, person) => {
    expect((await signIn({ fields, script: { person } })).status).toBe(403);
  });
});
