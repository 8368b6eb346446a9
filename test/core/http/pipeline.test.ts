// What happens to every request, over a real socket: order of checks, limits, media types, errors, audit records.
import { connect } from 'node:net';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProblems, formatProblem } from '../../../core/http/response/problem.ts';
import { HsmError, type HsmErrorKind } from '../../../hsm/api.ts';
import type { Answer } from '../../harness/client.ts';
import { startCoreApp, type CoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();
let app: CoreApp;

beforeAll(async () => {
  app = await startCoreApp({ directory: at('core'), plugin: things });
  await app.send('POST', '/v1/config/things', { name: 'one' });
});
afterAll(() => app.stop());

const sealUp = '/v1/state/things/one/seal-up';
const records = (): Record<string, unknown>[] =>
  app
    .auditText()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const recordOf = (answer: Answer) => records().find((record) => record['request-id'] === answer.headers['request-id']);

const hide = ({ status, body: { code, detail, title } }: Answer) => ({ status, code, detail, title });
const head = () => `POST ${sealUp} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.rootToken}\r\ncontent-type: application/json\r\n`;
const octets = (size: number) =>
  app.send('POST', '/octets', Buffer.alloc(size), { token: null, headers: { 'content-type': 'application/ocsp-request' } });

/** Sends octets as they are and answers what comes back until the server closes, or falls silent after so many answers. */
function raw(text: string | readonly string[], answers = 1): Promise<string> {
  const { hostname, port } = new URL(app.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    const watch = () => {
      if (answer.split('HTTP/1.1 ').length > answers) socket.setTimeout(100);
    };
    watch();
    socket.on('timeout', () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      watch();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    for (const piece of typeof text === 'string' ? [text] : text) socket.write(piece);
  });
}

describe('answers', () => {
  test('JSON in wire form with exact length, never cached, with a request id', async () => {
    const answer = await app.send('POST', sealUp, { payload: 'AP8=', 'key-version': 2 });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ payload: 'AP8=', 'key-version': 2, 'sealed-at': '2026-01-01T00:00:00.000000Z' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(answer.text)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.headers['request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('an action without output answers 204 and nothing else, with or without a body', async () => {
    for (const body of [undefined, {}]) {
      const answer = await app.send('POST', '/v1/state/poke', body);
      expect([answer.status, answer.text, answer.headers['content-length'], answer.headers['content-type']]).toEqual([
        204,
        '',
        undefined,
        undefined,
      ]);
    }
    expect((await app.send('POST', '/v1/state/poke', { x: 1 })).body.code).toBe('unknown-field');
  });

  test('HEAD answers as GET would, without the body; health needs no token', async () => {
    const get = await app.send('GET', '/v1/state/system/health', undefined, { token: null });
    const head = await app.send('HEAD', '/v1/state/system/health', undefined, { token: null });
    expect([get.status, get.body]).toEqual([200, { status: 'ok' }]);
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', get.headers['content-length']]);
  });

  test('errors are RFC 9457 documents with code and request id', async () => {
    const answer = await app.send('POST', sealUp, { payload: '?' });
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.body).toEqual({
      type: 'urn:keystore:error:invalid-base64',
      title: 'Invalid base64',
      status: 400,
      detail: '"payload" must be standard base64 with padding, without white space.',
      code: 'invalid-base64',
      'request-id': answer.headers['request-id'],
      errors: [{ 'error-message': '"payload" must be standard base64 with padding, without white space.', 'error-info': 'payload' }],
    });
  });

  test('answers in pieces end where they should, and HEAD has none', async () => {
    expect((await app.send('GET', '/v1/state/stream?count=3')).text).toBe('{"piece":1}\n{"piece":2}\n{"piece":3}\n');
    expect(await app.send('HEAD', '/v1/state/stream')).toMatchObject({ status: 200, text: '' });
  });

  test('forms, octets, cookies and pages of refusal', async () => {
    const form = (text: string) =>
      app.send('POST', '/form', text, { token: null, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    const welcome = await form('word=please');
    expect([welcome.status, welcome.text, welcome.headers['set-cookie']]).toEqual([200, '<p>Welcome</p>', ['a=1', 'b=2']]);
    expect(recordOf(welcome)).toMatchObject({ kind: 'login', user: 'someone', tenant: 'somewhere' });
    const refused = await form('word=now');
    expect(refused).toMatchObject({ status: 401, headers: { 'content-type': 'text/html; charset=utf-8', 'www-authenticate': 'Bearer' } });
    expect(refused.text).toContain(String(refused.headers['request-id']));
    const octets = await app.send('POST', '/octets', Buffer.from([1, 2, 3]), {
      token: null,
      headers: { 'content-type': 'application/ocsp-request' },
    });
    expect([...Buffer.from(octets.text)]).toEqual([3, 2, 1]);
    expect((await app.send('GET', '/callback?state=a&state=b', undefined, { token: null })).text).toBe('state=a&state=b');
    expect(await app.send('HEAD', '/callback', undefined, { token: null })).toMatchObject({ status: 405, headers: { allow: 'GET' } });
  });
});

describe('order of checks (api 55)', () => {
  const wrongEverything = { token: 'nobody', headers: { 'content-type': 'text/plain' } };

  test('an unknown path is 404 and a wrong method 405 with Allow, for every caller', async () => {
    for (const path of ['/v1/nothing', '/', '/v2/config/things', '/v1/config/things/one/more', '/v1/config/%74hings/%2e%2e', '/%']) {
      expect(await app.send('GET', path, undefined, { token: null })).toMatchObject({ status: 404, body: { code: 'not-found' } });
    }
    const wrong = await app.send('DELETE', '/v1/config/things');
    expect([wrong.status, wrong.body.code, wrong.headers['allow']]).toEqual([405, 'method-not-allowed', 'GET, HEAD, POST']);
    expect((await app.send('OPTIONS', '/v1/state/poke')).headers['allow']).toBe('POST');
  });

  test('no answer without TLS speaks of HTTPS (RFC 6797 section 7.2); those with it are in ca/status-listener.test.ts', async () => {
    const answers = await Promise.all([
      app.send('GET', '/v1/config/things'),
      app.send('GET', '/v1/nothing', undefined, { token: null }),
      app.send('GET', '/v1/config/things', undefined, { token: null }),
      app.send('DELETE', '/v1/config/things'),
      app.send('POST', '/form', 'word=now', { token: null, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      app.send('POST', '/v1/state/poke', Buffer.alloc(5 << 20)),
    ]);
    for (const { headers } of answers) expect(headers['strict-transport-security']).toBeUndefined();
  });

  test('a person who got lost meets a page, a program a problem document', async () => {
    const ask = (method: string, path: string, accept: string): Promise<Answer> =>
      app.send(method, path, undefined, { token: null, headers: { accept } });
    const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    for (const path of ['/nothing', '/', '/v1/nothing', '/%']) {
      const page = await ask('GET', path, html);
      expect(page).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' } });
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      expect(page.text).toContain(String(page.headers['request-id']));
      expect(page.text).not.toContain('nothing<');
      for (const accept of ['*/*', 'application/json', 'image/png'])
        expect(await ask('GET', path, accept)).toMatchObject({ status: 404, body: { code: 'not-found' } });
    }
    const wrongMethod = await ask('GET', '/form', html);
    expect(wrongMethod).toMatchObject({ status: 405, headers: { allow: 'POST', 'content-type': 'text/html; charset=utf-8' } });
    // What a program calls is answered as programs expect it.
    expect(await ask('GET', '/v1/state/poke', html)).toMatchObject({ status: 405, body: { code: 'method-not-allowed' } });
    expect(await ask('GET', '/v1/config/things', html)).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
  });

  test('too large comes before everything, then sealed, token, policy, media type, existence, preconditions, body', async () => {
    const limited = await app.makeTenant('order', ['rewrap-only']);
    const steps: [number, string, Promise<Answer>][] = [];
    app.seal(true);
    steps.push([413, 'payload-too-large', app.send('PATCH', '/v1/config/things/none', Buffer.alloc(5 << 20), wrongEverything)]);
    steps.push([503, 'sealed', app.send('PATCH', '/v1/config/things/none', 'x', wrongEverything)]);
    await Promise.all(steps.map(([, , answer]) => answer));
    app.seal(false);
    steps.push([401, 'invalid-token', app.send('PATCH', '/v1/config/things/none', 'x', wrongEverything)]);
    steps.push([403, 'policy-denied', app.send('PATCH', '/v1/config/things/none', 'x', { ...wrongEverything, token: limited })]);
    steps.push([
      415,
      'unsupported-media-type',
      app.send('PATCH', '/v1/config/things/none', 'x', { headers: { 'content-type': 'text/plain' } }),
    ]);
    steps.push([404, 'not-found', app.send('PATCH', '/v1/config/things/none', 'x', { headers: { 'if-match': '"x"' } })]);
    steps.push([412, 'precondition-failed', app.send('PATCH', '/v1/config/things/one', 'x', { headers: { 'if-match': '"x"' } })]);
    steps.push([400, 'invalid-json', app.send('PATCH', '/v1/config/things/one', 'x')]);
    for (const [status, code, answer] of steps) expect(await answer).toMatchObject({ status, body: { code } });
  });

  test('a refused caller learns nothing about what exists', async () => {
    const limited = await app.makeTenant('curious', ['rewrap-only']);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const [there, absent] = await Promise.all(
        ['one', 'none'].map((name) => app.send(method, `/v1/config/things/${name}`, method === 'GET' ? undefined : {}, { token: limited })),
      );
      expect(hide(there as Answer)).toEqual(hide(absent as Answer));
      expect(there?.status).toBe(403);
    }
  });

  test('what belongs to another tenant is not found, and names of the same spelling are separate', async () => {
    const other = await app.makeTenant('other');
    expect((await app.send('GET', '/v1/config/things/one', undefined, { token: other })).status).toBe(404);
    expect((await app.send('POST', '/v1/config/things', { name: 'one', color: 'blue' }, { token: other })).status).toBe(201);
    expect((await app.send('GET', '/v1/config/things/one')).body.color).toBe('red');
    expect((await app.send('GET', '/v1/config/tenants', undefined, { token: await app.makeTenant('site', ['root']) })).status).toBe(404);
  });

  test('health and the description work while sealed', async () => {
    app.seal(true);
    expect((await app.send('GET', '/v1/state/system/health', undefined, { token: null })).status).toBe(200);
    expect((await app.send('GET', '/v1/openapi.json', undefined, { token: null })).status).toBe(200);
    const sealed = await app.send('POST', '/v1/state/poke');
    expect([sealed.status, sealed.body.detail, sealed.headers['retry-after']]).toEqual([503, undefined, '5']);
    expect(sealed.body.errors).toEqual([{ 'error-message': expect.stringContaining('system unseal') }]);
    app.seal(false);
  });
});

describe('tokens of requests (api 47)', () => {
  test.each([
    ['no header', null],
    ['empty', ''],
    ['another scheme', 'Basic cm9vdDpyb290'],
    ['no token', 'Bearer'],
    ['an unknown token', 'Bearer 6f1c9f6e-9f5c-4a52-8d4c-6f1c9f6e9f5c'],
    ['two tokens', 'Bearer a b'],
    ['a pattern', 'Bearer *'],
    ['a name of Object', 'Bearer __proto__'],
    ['a long token', `Bearer ${'a'.repeat(9_000)}`],
  ])('%s is 401 with the scheme named', async (_, authorization) => {
    const answer = await app.send('POST', '/v1/state/poke', {}, { token: null, headers: authorization === null ? {} : { authorization } });
    expect([answer.status, answer.body.code, answer.headers['www-authenticate']]).toEqual([401, 'invalid-token', 'Bearer']);
  });

  test('the scheme in any case; the token in its own', async () => {
    const status = async (authorization: string) =>
      (await app.send('POST', '/v1/state/poke', {}, { token: null, headers: { authorization } })).status;
    expect(await status(`bearer ${app.rootToken}`)).toBe(204);
    expect(await status(`BEARER  ${app.rootToken}`)).toBe(204);
    expect(await status(`Bearer ${app.rootToken.toUpperCase()}`)).toBe(/[a-f]/.test(app.rootToken) ? 401 : 204);
  });
});

describe('bodies', () => {
  test.each([
    ['application/json; charset=utf-8', 200],
    ['Application/JSON;charset="UTF-8"', 200],
    ['application/json; charset=utf-16', 415],
    ['application/merge-patch+json', 415],
    ['text/json', 415],
    ['application/jsonx', 415],
    ['application/x-www-form-urlencoded', 415],
    ['', 415],
  ])('media type %j is %i', async (type, status) => {
    expect((await app.send('POST', sealUp, '{"payload":""}', { headers: { 'content-type': type } })).status).toBe(status);
  });

  test('a compressed body is 415', async () => {
    expect((await app.send('POST', sealUp, '{"payload":""}', { headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
    expect((await app.send('POST', sealUp, '{"payload":""}', { headers: { 'content-encoding': 'identity' } })).status).toBe(200);
  });

  test('PATCH takes merge-patch as well', async () => {
    expect(
      (await app.send('PATCH', '/v1/config/things/one', '{}', { headers: { 'content-type': 'application/merge-patch+json' } })).status,
    ).toBe(204);
  });

  test('over the limit is 413, announced or in chunks, and the connection serves the next request', async () => {
    expect(await app.send('POST', sealUp, Buffer.alloc((4 << 20) + 1, 0x20))).toMatchObject({
      status: 413,
      body: { code: 'payload-too-large' },
    });
    expect(await app.send('POST', sealUp, `{"payload":"${'A'.repeat((4 << 20) - 16)}"}`)).toMatchObject({ status: 200 });
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const answer = await raw(
      [
        `${head()}transfer-encoding: chunked\r\n\r\n`,
        ...Array.from({ length: 70 }, () => chunk),
        '0\r\n\r\n',
        `${head()}content-length: 14\r\n\r\n{"payload":""}`,
      ],
      2,
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  test('a limit of its own, also when one chunk is over it', async () => {
    expect([(await octets(16)).status, (await octets(17)).status]).toEqual([200, 413]);
    const answer = await raw(
      'POST /octets HTTP/1.1\r\nhost: x\r\ncontent-type: application/ocsp-request\r\ntransfer-encoding: chunked\r\n\r\n20\r\n01234567890123456789012345678901\r\n0\r\n\r\n',
    );
    expect(answer).toContain('HTTP/1.1 413');
  });

  test('bodies of unauthenticated callers over 64 KiB are not kept', async () => {
    const body = `{"payload":"${'A'.repeat(100_000)}"}`;
    expect((await app.send('POST', sealUp, body)).status).toBe(200);
    for (const token of [null, 'nobody'])
      expect(await app.send('POST', sealUp, body, { token })).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    const chunk = `4000\r\n${'A'.repeat(0x4000)}\r\n`;
    const chunked = (authorization: string) =>
      raw([
        `POST ${sealUp} HTTP/1.1\r\nhost: x\r\n${authorization}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
        'c\r\n{"payload":"\r\n',
        ...Array.from({ length: 8 }, () => chunk),
        '2\r\n"}\r\n0\r\n\r\n',
      ]);
    expect(await chunked(`authorization: Bearer ${app.rootToken}\r\n`)).toMatch(/^HTTP\/1\.1 200/);
    expect(await chunked('')).toMatch(/^HTTP\/1\.1 401/);
    app.seal(true);
    expect(await app.send('POST', sealUp, body)).toMatchObject({ status: 503, body: { code: 'sealed' } });
    app.seal(false);
  });

  test('a client that breaks off in the middle of a body ends nothing', async () => {
    await raw(`${head()}content-length: 100\r\n\r\n{"payl`, 0);
    expect((await app.send('POST', '/v1/state/poke')).status).toBe(204);
  });

  test('a body in pieces is one body', async () => {
    expect(await raw([`${head()}transfer-encoding: chunked\r\n\r\n`, '7\r\n{"paylo\r\n', '7\r\nad":""}\r\n', '0\r\n\r\n'])).toContain(
      'HTTP/1.1 200',
    );
  });

  test.each([
    ['a length and chunks', 'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'content-length: 5\r\ncontent-length: 6\r\n\r\n{"a":'],
    ['a length that is none', 'content-length: -1\r\n\r\n'],
  ])('%s is refused before anything runs', async (_, rest) => {
    expect(await raw(head() + rest)).toMatch(/^HTTP\/1\.1 400/);
  });
});

describe('a header field that stands twice (RFC 9110 section 5.3)', () => {
  const token = () => `authorization: Bearer ${app.rootToken}\r\n`;
  test.each([
    ['two tokens, the right one first', () => `host: x\r\n${token()}Authorization: Bearer nobody\r\n`],
    ['two tokens, the right one last', () => `host: x\r\nAUTHORIZATION: Bearer nobody\r\n${token()}`],
    ['the same token twice', () => `host: x\r\n${token()}${token()}`],
    ['an empty one among them', () => `host: x\r\n${token()}authorization:\r\n`],
    ['two media types', () => `host: x\r\n${token()}content-type: application/json\r\ncontent-type: text/plain\r\n`],
    ['two hosts', () => `host: x\r\nhost: y\r\n${token()}`],
  ])('%s: 400, and nothing runs', async (_, headers) => {
    const before = records().length;
    const answer = await raw(`POST /v1/state/poke HTTP/1.1\r\n${headers()}content-length: 0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
    expect(answer).toMatch(/"code":"invalid-value"|^HTTP\/1\.1 400 Bad Request\r\nConnection: close/);
    expect(answer).not.toContain(app.rootToken);
    expect(records()).toHaveLength(before);
  });

  test('others may: lists are joined, and names that only look alike count for themselves', async () => {
    const headers = `host: x\r\n${token()}accept: a/b\r\naccept: c/d\r\nauthorizatiom: x\r\ncontent-typo: y\r\n`;
    expect(await raw(`POST /v1/state/poke HTTP/1.1\r\n${headers}content-length: 0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 204/);
  });
});

describe('request targets', () => {
  test.each([
    'GET * HTTP/1.1',
    'GET /v1/%zz HTTP/1.1',
    'GET //v1/config/things HTTP/1.1',
    'GET /v1/config/things/%00 HTTP/1.1',
    'GET http://x/v1/nothing HTTP/1.1',
  ])('%s is 404 and is not echoed', async (line) => {
    const answer = await raw(`${line}\r\nhost: x\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 404/);
    expect(answer).not.toContain(line.split(' ')[1] === '*' ? '/*' : (line.split(' ')[1] ?? ''));
  });

  test('a strange host header changes nothing', async () => {
    for (const host of ['[', 'a b', 'x:99999', 'é', '']) {
      expect(await raw(`GET /v1/state/system/health HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 (200|400)/);
    }
    expect((await app.send('GET', '/v1/state/system/health')).status).toBe(200);
  });

  test('a host that is none changes nothing either where h3 reads the target as a URL: one such request ended the process', async () => {
    const paths = ['/%2e%2e/x', '/./x', '/v1/%41', '/a"b', "/x?'", '/x?<', '//', '/%zz', '/\\x'];
    for (const host of ['0.5', '1.2.3.999', '256.1', 'localhost:99999', '[::1', '[::zz]', 'a b', '%', '']) {
      const answers = await Promise.all(paths.map((path) => raw(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)));
      for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 (400|404)/);
    }
  });

  test('the absolute form works', async () => {
    expect(await raw('GET http://anything/v1/state/system/health HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/);
  });

  test('every spelling of a path meets the same policy', async () => {
    const limited = await app.makeTenant('speller', ['rewrap-only']);
    for (const path of ['/v1/config/things/', '/v1/config/%74hings', '/%76%31/config/things', '/v1/config/things?keys=true']) {
      expect((await app.send('GET', path, undefined, { token: limited })).status).toBe(403);
      expect((await app.send('GET', path)).status).toBe(200);
    }
  });

  test('an unknown query parameter is 400, one that stands twice too', async () => {
    expect((await app.send('POST', '/v1/state/poke?now=1')).body.code).toBe('unknown-parameter');
    expect((await app.send('GET', '/v1/state/stream?count=1&count=2')).body.code).toBe('invalid-value');
    expect((await app.send('GET', '/v1/state/stream?__proto__=1')).body.code).toBe('unknown-parameter');
  });
});

describe('faults', () => {
  beforeEach(() => void (app.log.lines.length = 0));

  test.each(['throw', 'reject', 'odd'])('%s: 500 without detail, the rest in the log under the request id', async (how) => {
    const answer = await app.send('POST', '/v1/state/misbehave', { how });
    expect(answer.body).toEqual({
      type: 'urn:keystore:error:internal-error',
      title: 'Internal error',
      status: 500,
      code: 'internal-error',
      'request-id': answer.headers['request-id'],
      errors: [{ 'error-message': 'The administrator finds the reason in system:logs under the request id.' }],
    });
    const line = app.log.lines.find((one) => one.includes(String(answer.headers['request-id'])));
    expect(line).toContain('things.ts');
    expect(line).not.toContain('S3CRET');
  });

  test('the HSM away is 503 with Retry-After; a decryption that fails is one 400', async () => {
    expect(await app.send('POST', '/v1/state/misbehave', { how: 'hsm-down' })).toMatchObject({
      status: 503,
      body: { code: 'hsm-unavailable' },
      headers: { 'retry-after': '5' },
    });
    expect(await app.send('POST', '/v1/state/misbehave', { how: 'tampered' })).toMatchObject({
      status: 400,
      body: { code: 'decryption-failed' },
    });
  });
});

describe('what is said of a token that does not work', () => {
  const problems = createProblems([]);
  const said = (kind: HsmErrorKind): unknown => formatProblem(problems.serviceError(new HsmError(kind, 'S3CRET')), 'id')['errors'];

  test.each([
    ['unavailable', /system\/health/],
    ['pin-refused', /correct the PIN.*start keystored again/],
    ['timeout', /did not answer in time/],
    ['configuration', /mend that or hsm\/tokens/],
  ] as const)('%s: the fix, and nothing of the occurrence', (kind, fix) => {
    expect(said(kind)).toEqual([{ 'error-message': expect.stringMatching(fix) }]);
    expect(JSON.stringify(said(kind))).not.toContain('S3CRET');
  });

  test('a key of a token that is not configured: 409 with the name of the token and the fix', () => {
    const error = problems.serviceError(new HsmError('token-not-configured', 'the key is held by token "old", which is not configured'));
    expect(formatProblem(error, 'id')).toMatchObject({
      status: 409,
      code: 'token-not-configured',
      detail: 'The key is held by token "old", which is not configured.',
    });
  });
});

describe('audit records (api 69, 71)', () => {
  test('say who did what from where, with payloads by size', async () => {
    const answer = await app.send(
      'POST',
      `${sealUp}/?`,
      { payload: 'QUJD', note: 'hello', 'key-version': 3 },
      { headers: { 'user-agent': 'test/1' } },
    );
    expect(recordOf(answer)).toMatchObject({
      kind: 'request',
      'occurred-at': '2026-01-01T00:00:00.000000Z',
      tenant: 'system',
      user: 'root',
      path: sealUp,
      method: 'POST',
      status: 200,
      'client-ip': '127.0.0.1',
      'user-agent': 'test/1',
      'key-version': 3,
      'request-parameters': { note: 'hello', payload: { bytes: 3 } },
    });
  });

  test('refusals have their code, and a caller who proved nothing has no name', async () => {
    const refused = recordOf(await app.send('POST', sealUp, {}, { token: 'S3CRET' }));
    expect(refused).toMatchObject({ status: 401, code: 'invalid-token' });
    expect(refused).not.toHaveProperty('user');
    expect(app.auditText()).not.toContain('S3CRET');
  });

  test('an unknown field leaves no trace, it may be a misspelt secret', async () => {
    for (const [method, path] of [
      ['POST', '/v1/config/things'],
      ['PATCH', '/v1/config/things/one'],
      ['PUT', '/v1/config/things/one'],
      ['POST', sealUp],
    ] as const) {
      expect((await app.send(method, path, { name: 'one', 'client-secrte': 'MISSPELT' })).body.code).toBe('unknown-field');
    }
    expect(app.auditText()).not.toContain('MISSPELT');
  });

  test('secrets of documents stand by size', async () => {
    const answer = await app.send('POST', '/v1/config/things', {
      name: 'safe',
      'client-secret': 'VERYSECRET',
      vault: { 'pin-code': 'PINSECRET' },
    });
    expect(recordOf(answer)?.['request-parameters']).toEqual({
      name: 'safe',
      'client-secret': { bytes: 10 },
      vault: { 'pin-code': { bytes: 9 } },
    });
    expect(app.auditText()).not.toMatch(/VERYSECRET|PINSECRET/);
  });

  test('health leaves no record', async () => {
    expect(recordOf(await app.send('GET', '/v1/state/system/health'))).toBeUndefined();
  });
});

describe('when the audit trail cannot be written (api 71)', () => {
  let broken: CoreApp;
  beforeAll(async () => {
    broken = await startCoreApp({ directory: at('broken'), plugin: things });
    await broken.send('POST', '/v1/config/things', { name: 'one' });
    // The file is gone and a new one cannot be made: the trail notices at its next batch.
    rmSync(at('broken', 'audit'), { recursive: true });
  });
  afterAll(() => broken.stop());

  test('what was done before that was seen has no Retry-After; later changes change nothing, reads and refusals go on', async () => {
    const done = await broken.send('POST', '/v1/config/things', { name: 'done' });
    expect(done).toMatchObject({ status: 503, body: { code: 'audit-unavailable' } });
    expect(done.headers['retry-after']).toBeUndefined();
    expect(broken.audit.writable).toBe(false);
    expect(await broken.send('POST', '/v1/config/things', { name: 'two' })).toMatchObject({
      status: 503,
      body: { code: 'audit-unavailable' },
      headers: { 'retry-after': '5' },
    });
    expect((await broken.send('GET', '/v1/config/things?keys=true')).body).toEqual(['done', 'one']);
    expect((await broken.send('POST', '/v1/state/poke', {}, { token: null })).status).toBe(401);
  });
});

test('requests of one turn are all answered, each with its own', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => app.send('POST', sealUp, { payload: Buffer.from(`${index}`).toString('base64') })),
  );
  expect(answers.map(({ body }) => Buffer.from(String(body.payload), 'base64').toString())).toEqual(
    Array.from({ length: 100 }, (_, index) => String(index)),
  );
  expect(new Set(answers.map((answer) => answer.headers['request-id'])).size).toBe(100);
});
