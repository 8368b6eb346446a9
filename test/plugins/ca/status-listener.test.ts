// Revocation lists and OCSP over HTTP: a port for them alone, whose URL certificates name, with answers that caches may keep.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { freePort } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startScepAppliance } from '../scep/scep-appliance.ts';

const at = temporaryDirectory();
const run = promisify(execFile);
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const appliance = await startScepAppliance({
  configuration: { enrolment: { statusListen: `127.0.0.1:${port}` }, ca: { statusUrl: origin } },
});
const ca = await appliance.makeCa({ est: { 'allowed-domains': ['example.test'], 'allow-bare-domains': true } });
const file = (name: string, text: string): string => {
  writeFileSync(at(name), text);
  return at(name);
};
const issued = (await appliance.act(ca, 'issue', { subject: 'CN=example.test', 'dns-names': ['example.test'] })).body;
const leaf = file('leaf.pem', issued.certificate);
const issuer = file('ca.pem', (await appliance.state(ca))['ca-cert']);
const names = new X509Certificate(issued.certificate);

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, body, etag: response.headers.get('etag') ?? '', caching: response.headers.get('cache-control') };
}
const crlUrl = (await appliance.state(ca))['crl-url'] as string;
const ocspUrl = (await appliance.state(ca))['ocsp-url'] as string;

test('certificates name it, and openssl asks it', async () => {
  const { stdout: text } = await run('openssl', ['x509', '-in', leaf, '-noout', '-ext', 'crlDistributionPoints']);
  expect(text).toContain(`URI:${crlUrl}`);
  expect(names.infoAccess).toContain(`OCSP - URI:${ocspUrl}`);
  expect([crlUrl, ocspUrl].every((url) => url.startsWith(`${origin}/v1/ca/`))).toBe(true);
  const args = ['-issuer', issuer, '-cert', leaf, '-CAfile', issuer, '-url', ocspUrl];
  expect((await run('openssl', ['ocsp', ...args])).stdout).toContain('leaf.pem: good');
});

test('nothing else is served there', async () => {
  for (const path of [
    '/',
    '/v1/state/tenants/system',
    '/v1/openapi.json',
    `/scep/${appliance.tenantId}/${ca}?operation=GetCACaps`,
    '/acme/',
    '/v1/caa',
  ])
    expect([path, (await get(`${origin}${path}`)).status]).toEqual([path, 404]);
  expect((await fetch(`${origin}/v1/ca/${appliance.tenantId}/${ca}/crl`, { method: 'DELETE' })).status).toBe(405);
});

test('lists and plain answers are kept by caches for minutes, with a tag; nonces and questions by POST are not', async () => {
  const list = await get(crlUrl);
  expect(list).toMatchObject({ status: 200, caching: 'public, max-age=300, must-revalidate, no-transform' });
  expect(await get(crlUrl, { 'if-none-match': list.etag })).toMatchObject({ status: 304, etag: list.etag });
  expect((await get(crlUrl, { 'if-none-match': '"other"' })).body).toEqual(list.body);
  const question = async (name: string, ...more: string[]): Promise<Buffer<ArrayBuffer>> => {
    await run('openssl', ['ocsp', '-issuer', issuer, '-cert', leaf, ...more, '-reqout', at(name)]);
    return readFileSync(at(name));
  };
  const plain = await question('plain.req', '-no_nonce');
  const byPath = (request: Buffer): string => `${ocspUrl}/${encodeURIComponent(request.toString('base64'))}`;
  const answer = await get(byPath(plain));
  expect(answer).toMatchObject({ status: 200, caching: list.caching });
  expect((await get(byPath(plain), { 'if-none-match': answer.etag })).status).toBe(304);
  expect((await get(byPath(await question('nonce.req', '-nonce')))).caching).toBe('no-store');
  const posted = await fetch(ocspUrl, { method: 'POST', body: plain, headers: { 'content-type': 'application/ocsp-request' } });
  expect([posted.status, posted.headers.get('cache-control')]).toEqual([200, 'no-store']);
});

test('HEAD has the header of GET, length and type too', async () => {
  const header = async (method: string) => {
    const { status, headers } = await fetch(crlUrl, { method });
    return [status, ...['content-length', 'content-type', 'etag', 'cache-control'].map((name) => headers.get(name))];
  };
  const [full, head] = [await header('GET'), await header('HEAD')];
  expect(full[1]).toMatch(/^[1-9]/);
  expect(head).toEqual(full);
  expect((await fetch(crlUrl, { method: 'HEAD', headers: { 'if-none-match': String(full[3]) } })).status).toBe(304);
});

test('answers over TLS keep browsers to it, those of this port do not speak of it', async () => {
  for (const [method, path, body] of [
    ['GET', '/v1/nothing'],
    ['DELETE', '/v1/openapi.json'],
    ['GET', '/v1/state/tenants'],
    ['POST', '/v1/config/tenants', { nonsense: true }],
  ] as const)
    expect((await appliance.request(method, path, body)).headers['strict-transport-security']).toBe('max-age=31536000');
  for (const path of ['/', new URL(crlUrl).pathname])
    expect((await fetch(`${origin}${path}`)).headers.get('strict-transport-security')).toBeNull();
});

test('after a revocation the tag is another one, and the list names the certificate', async () => {
  const before = await get(crlUrl);
  const serial = names.serialNumber;
  expect((await appliance.act(ca, 'revoke', { serial: serial.toLowerCase() })).status).toBe(200);
  const after = await get(crlUrl, { 'if-none-match': before.etag });
  expect(after.status).toBe(200);
  writeFileSync(at('after.crl'), after.body);
  expect((await run('openssl', ['crl', '-inform', 'DER', '-in', at('after.crl'), '-noout', '-text'])).stdout).toContain(serial);
  const { stdout } = await run('openssl', ['ocsp', '-issuer', issuer, '-cert', leaf, '-CAfile', issuer, '-url', ocspUrl]);
  expect(stdout).toContain('leaf.pem: revoked');
});
