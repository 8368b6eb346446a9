// The token endpoint and its faults: R31 to R36.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, textOf, type OidcHarness } from '../harness.ts';
import { sendJson, type Script } from '../scripted-provider.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  await harness.setService();
  await harness.setRole('g1');
});
afterAll(() => harness.close());
beforeEach(async () => {
  harness.provider.script = { person: { groups: ['g1'] } };
  await harness.setService();
  harness.takeLog();
});

async function login(script: Script = {}): Promise<{ status: number; text: string }> {
  harness.provider.script = { person: { groups: ['g1'] }, ...script };
  const { status, body } = await harness.browser().login(harness.provider);
  return { status, text: textOf(body) };
}

const tokenAnswers = (respond: (response: ServerResponse) => unknown): Script => ({
  respond: { '/token': (_request, response) => void respond(response) },
});
const lastTokenRequest = () => harness.provider.requestsTo('/token').at(-1);

const withMethods = (methods: readonly string[] | undefined): Script => ({
  metadata: (metadata) => ({ ...metadata, token_endpoint_auth_methods_supported: methods }),
});

describe('R31: how the client authenticates', () => {
  test.each([
    ['the metadata names none', undefined, 'basic'],
    ['it names Basic', ['client_secret_basic'], 'basic'],
    ['it names both', ['client_secret_post', 'client_secret_basic'], 'basic'],
    ['it names post only', ['client_secret_post', 'private_key_jwt'], 'post'],
  ])('%s', async (_, methods, used) => {
    harness.provider.script = withMethods(methods);
    await harness.setService();
    expect((await login(withMethods(methods))).status).toBe(303);
    const request = lastTokenRequest();
    expect(request?.headers.authorization !== undefined).toBe(used === 'basic');
    expect(new URLSearchParams(request?.body).has('client_secret')).toBe(used === 'post');
  });

  test('R32: Basic credentials are form-encoded, and the service can choose the method', async () => {
    expect((await login()).status).toBe(303);
    const [id, secret] = Buffer.from(String(lastTokenRequest()?.headers.authorization).slice(6), 'base64').toString().split(':');
    expect(decodeURIComponent(String(id).replaceAll('+', ' '))).toBe(harness.provider.clientId);
    expect(decodeURIComponent(String(secret).replaceAll('+', ' '))).toBe(harness.provider.clientSecret);
    await harness.setService({ 'token-endpoint-auth-method': 'client_secret_post' });
    expect((await login()).status).toBe(303);
    expect(lastTokenRequest()?.headers.authorization).toBeUndefined();
  });
});

describe('R33: redirects are not followed', () => {
  test.each([
    ['token', 307],
    ['token', 302],
    ['jwks', 302],
    ['userinfo', 307],
  ])('by the %s endpoint, %i', async (name, status) => {
    const before = harness.provider.requestsTo('/elsewhere').length;
    await harness.setRole('strict', { 'required-claims': ['only-in-userinfo'] });
    await login({
      person: { groups: ['strict'] },
      respond: {
        [`/${name}`]: (_request, response) => void response.writeHead(status, { location: `${harness.provider.origin}/elsewhere` }).end(),
      },
    });
    expect(harness.provider.requestsTo(`/${name}`).length).toBeGreaterThan(0);
    expect(harness.provider.requestsTo('/elsewhere')).toHaveLength(before);
  });
});

describe('R34: limits', () => {
  test('an answer over 1 MiB is cut off', async () => {
    const answer = await login(tokenAnswers((response) => sendJson(response, { access_token: 'x'.repeat(2_000_000) })));
    expect(answer.status).toBe(502);
    expect(harness.takeLog()).toMatchObject([{ fields: { reason: 'too-large', stage: 'token' } }]);
  });

  test('so is one without length that never ends', async () => {
    const answer = await login(
      tokenAnswers((response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const piece = Buffer.alloc(65_536, 0x20);
        const pump = (): void => {
          while (!response.destroyed && response.write(piece));
          if (!response.destroyed) response.once('drain', pump);
        };
        pump();
      }),
    );
    expect(answer.status).toBe(502);
  });

  test('a provider that does not answer costs five seconds, and the code is not tried again', async () => {
    const before = harness.provider.requestsTo('/token').length;
    const started = performance.now();
    const answer = await login(tokenAnswers(() => undefined));
    expect(answer).toMatchObject({ status: 504, text: expect.stringContaining('too slow') });
    expect(performance.now() - started).toBeGreaterThan(4_000);
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(harness.provider.requestsTo('/token')).toHaveLength(before + 1);
    expect(harness.takeLog()).toMatchObject([{ fields: { code: 'provider-timeout', stage: 'token' } }]);
  });
});

describe('R35: invalid_client', () => {
  const entra = {
    error: 'invalid_client',
    error_description: 'AADSTS7000222: The provided client secret keys for app are expired.',
    error_codes: [7000222],
    trace_id: 'trace-1',
    correlation_id: 'correlation-1',
  };
  test.each([
    ['in the body', {}],
    ['with a challenge, whose body is still read', { 'www-authenticate': 'Basic realm="idp"' }],
  ])('%s: the log says what to do, the page whom to inform', async (_, headers) => {
    const answer = await login(tokenAnswers((response) => sendJson(response, entra, 401, headers)));
    expect(answer).toMatchObject({ status: 502, text: expect.stringContaining('refused this system') });
    const [line] = harness.takeLog();
    expect(line?.fields).toMatchObject({
      service: 'corp',
      'client-id': harness.provider.clientId,
      code: 'provider-refused-system',
      stage: 'token',
      'provider-status': 401,
      'provider-error': 'invalid_client',
      'provider-error-codes': [7000222],
      'trace-id': 'trace-1',
      'correlation-id': 'correlation-1',
      hint: expect.stringMatching(/client secret has expired.*update client-secret/),
    });
  });

  test.each([
    [400, 'invalid_client', /wrong or has expired/, 'provider-refused-system'],
    [400, 'invalid_grant', /used twice|too old/, 'provider-error'],
    [400, 'unauthorized_client', /authorization code flow/, 'service-misconfigured'],
    [401, 'something', /wrong or has expired/, 'provider-refused-system'],
  ])('%i %s is told apart', async (status, error, hint, code) => {
    await login(tokenAnswers((response) => sendJson(response, { error }, status)));
    expect(harness.takeLog()).toMatchObject([{ fields: { code, hint: expect.stringMatching(hint) } }]);
  });

  test.each([
    [[65001], /admin consent/],
    [[500131], /already one for the directory API/],
    [[7000215], /id was copied instead of its value/],
  ])('AADSTS%s is the specification’s own row', async (codes, hint) => {
    await login(tokenAnswers((response) => sendJson(response, { error: 'invalid_grant', error_codes: codes }, 400)));
    expect(harness.takeLog()).toMatchObject([{ fields: { hint: expect.stringMatching(hint) } }]);
  });

  test('secret, code and verifier are in no log and no audit record', async () => {
    const browser = harness.browser();
    harness.provider.script = tokenAnswers((response) => sendJson(response, entra, 401));
    await browser.login(harness.provider);
    const sent = new URLSearchParams(lastTokenRequest()?.body);
    const written = JSON.stringify(harness.takeLog()) + harness.auditText();
    for (const secret of [harness.provider.clientSecret, sent.get('code'), sent.get('code_verifier')]) {
      expect(secret).toBeTruthy();
      expect(written).not.toContain(secret);
    }
  });
});

describe('R36: unusable answers', () => {
  test.each([
    ['HTML with 500', (response: ServerResponse) => response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Oops</h1>')],
    ['HTML with 200', (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>')],
    [
      'truncated JSON',
      (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token": "x'),
    ],
    ['an empty body', (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/json' }).end()],
    ['a list', (response: ServerResponse) => sendJson(response, [])],
    ['null', (response: ServerResponse) => sendJson(response, null)],
    ['no tokens', (response: ServerResponse) => sendJson(response, { token_type: 'Bearer' })],
    ['numbers as tokens', (response: ServerResponse) => sendJson(response, { access_token: 1, token_type: 'Bearer', id_token: 2 })],
    ['204', (response: ServerResponse) => response.writeHead(204).end()],
    ['a connection that breaks', (response: ServerResponse) => void response.destroy()],
    [
      'a connection that breaks in the body',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{');
        setTimeout(() => response.destroy(), 20);
      },
    ],
  ])('%s: a 502 page and one log line', async (_, respond) => {
    expect((await login(tokenAnswers(respond))).status).toBe(502);
    const lines = harness.takeLog();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 'warn', fields: { reference: expect.any(String), stage: expect.any(String) } });
  });

  test('a provider that does not accept connections', async () => {
    await harness.setService({ 'discovery-url': 'https://127.0.0.1:9/' });
    expect((await harness.browser().get('/login/system/corp')).status).toBe(502);
    expect(harness.takeLog()).toMatchObject([
      { fields: { reason: 'unreachable', 'system-code': 'ECONNREFUSED', hint: expect.any(String) } },
    ]);
  });
});
