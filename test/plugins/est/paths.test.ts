// Which paths and methods exist on the EST listener (requirements R1 to R10).
import { beforeAll, describe, expect, test } from 'vitest';
import { basic, send } from './client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from './est-appliance.ts';
import { makeDeviceCsr, makeKeys, readCertsOnly } from '../ca/pki.ts';

let appliance: EstAppliance;
let ca: string;
let csr: Buffer;
const foreign = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa();
  csr = await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test');
});

const get = (path: string, method = 'GET') => send(appliance.est, path, { ca: appliance.caPem, method });

test('every answer is counted for the metrics, by operation and never by tenant, CA or a path that was made up', async () => {
  await appliance.call(ca, 'cacerts');
  await appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic('wrong') } });
  await get('/.well-known/est/made-up/path', 'PATCH');
  expect(appliance.answered.slice(-3)).toEqual([
    { method: 'GET', route: '/.well-known/est/{tenant}/{ca}/cacerts', status: 200, seconds: expect.any(Number) },
    { method: 'POST', route: '/.well-known/est/{tenant}/{ca}/simpleenroll', status: 401, seconds: expect.any(Number) },
    { method: 'any', route: undefined, status: 404, seconds: expect.any(Number) },
  ]);
});

describe('paths', () => {
  test('R1: cacerts, simpleenroll and simplereenroll below the base path', async () => {
    expect((await appliance.call(ca, 'cacerts')).status).toBe(200);
    expect((await appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } })).status).toBe(200);
    expect((await appliance.enrol(ca, 'simplereenroll', csr)).status).toBe(401);
  });

  test('R2: unknown tenant, unknown CA, CA of another tenant, disabled EST: one and the same 404', async () => {
    const disabled = await appliance.makeCa({ est: { ...openEst, enabled: false } });
    const silent = await appliance.makeCa({});
    const { tenantId } = appliance;
    const bases = [`${foreign}/${ca}`, `${tenantId}/no-such-ca`, `${tenantId}/${disabled}`, `${tenantId}/${silent}`, `nonsense/${ca}`];
    for (const base of bases) {
      for (const [operation, method] of [
        ['cacerts', 'GET'],
        ['simpleenroll', 'POST'],
        ['simplereenroll', 'POST'],
        ['csrattrs', 'GET'],
      ] as const) {
        const reply = await get(`/.well-known/est/${base}/${operation}`, method);
        expect({ status: reply.status, text: reply.text }).toEqual({ status: 404, text: 'Nothing is served here.\n' });
      }
    }
  });

  test('R3: only EST is served on this port', async () => {
    const { tenantId } = appliance;
    const paths = [
      '/',
      '/v1/state/system/health',
      `/v1/ca/${tenantId}/${ca}/crl`,
      '/.well-known/est/cacerts',
      '/.well-known/est',
      `/.well-known/est/${tenantId}/${ca}`,
      `/.well-known/est/${tenantId}/${ca}/fullcmc`,
      `/.well-known/est/${tenantId}/${ca}/serverkeygen`,
      `/.well-known/est/${tenantId}/${ca}/cacerts/more`,
      `/.well-known/acme/${tenantId}/${ca}/cacerts`,
    ];
    for (const path of paths) for (const method of ['GET', 'POST']) expect((await get(path, method)).status, path).toBe(404);
  });

  test('R4: csrattrs names the key type and subjectAltName (RFC 9908)', async () => {
    const reply = await appliance.call(ca, 'csrattrs');
    expect(reply.status).toBe(200);
    expect(reply.rawHeaders.get('Content-Type')).toBe('application/csrattrs');
    const der = Buffer.from(reply.text, 'base64').toString('hex');
    expect(der).toContain('06082a8648ce3d030107'); // secp256r1
    expect(der).toContain('0603551d11'); // subjectAltName
    expect(der).toContain('060b2a864886f70d010910023d'); // certificationRequestInfoTemplate
  });

  test('R5: a wrong method is 405 with Allow; HEAD is GET without a body', async () => {
    const base = `/.well-known/est/${appliance.tenantId}/${ca}`;
    const wrong = await get(`${base}/cacerts`, 'POST');
    expect({ status: wrong.status, allow: wrong.headers['allow'] }).toEqual({ status: 405, allow: 'GET, HEAD' });
    for (const operation of ['simpleenroll', 'simplereenroll']) {
      const reply = await get(`${base}/${operation}`);
      expect({ status: reply.status, allow: reply.headers['allow'] }).toEqual({ status: 405, allow: 'POST' });
    }
    const [head, full] = [await get(`${base}/cacerts`, 'HEAD'), await get(`${base}/cacerts`)];
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    expect(head.headers['content-length']).toBe(full.headers['content-length']);
  });

  test('R6: no CA carries the name of an EST operation', async () => {
    for (const name of ['cacerts', 'simpleenroll', 'simplereenroll', 'csrattrs', 'fullcmc', 'serverkeygen']) {
      const answer = await appliance.request('POST', '/v1/config/keystore/tls/ca', { name });
      expect({ status: answer.status, code: answer.body.code }, name).toEqual({ status: 400, code: 'invalid-value' });
      expect((await appliance.request('PUT', `/v1/config/keystore/tls/ca/${name}`, {})).status).toBe(400);
    }
  });

  test('R7: paths match with case, an encoded slash is no separator, names of object properties find nothing', async () => {
    const { tenantId } = appliance;
    const paths = [
      `/.well-known/est/${tenantId}/${ca.toUpperCase()}/cacerts`,
      `/.well-known/est/${tenantId}/${ca}/CACERTS`,
      `/.Well-Known/est/${tenantId}/${ca}/cacerts`,
      `/.well-known/est/${tenantId}%2F${ca}/cacerts`,
      `/.well-known/est/__proto__/constructor/cacerts`,
      `/.well-known/est/${tenantId}/__proto__/cacerts`,
      `/.well-known/est/${tenantId}/toString/cacerts`,
      `/.well-known/est/${tenantId}/${ca}/__proto__`,
    ];
    for (const path of paths) expect((await get(path)).status, path).toBe(404);
  });

  test('R8: a query is ignored; odd spellings are 200 or 404, never 500', async () => {
    const base = `/.well-known/est/${appliance.tenantId}/${ca}`;
    expect((await get(`${base}/cacerts?x=1&y`)).status).toBe(200);
    const paths = [
      `${base}/cacerts/`,
      `${base}/../${ca}/cacerts`,
      `${base}/./cacerts`,
      `${base}//cacerts`,
      `${base}/%63acerts`,
      `${base}/%zz`,
      '/%',
      `/${'a'.repeat(9_000)}`,
      '*',
    ];
    for (const path of paths) expect([200, 400, 404], path).toContain((await get(path)).status);
  });

  test('R9: clients that take one label use <tenant_uuid>~<ca_name>', async () => {
    const base = `/.well-known/est/${appliance.tenantId}~${ca}`;
    const [alias, plain] = [await get(`${base}/cacerts`), await appliance.call(ca, 'cacerts')];
    expect(alias.text).toBe(plain.text);
    const enrolled = await send(appliance.est, `${base}/simpleenroll`, {
      ca: appliance.caPem,
      method: 'POST',
      body: csr.toString('base64'),
      headers: { 'Content-Type': 'application/pkcs10', Authorization: basic(secret) },
    });
    expect(readCertsOnly(enrolled.text)).toHaveLength(1);
    for (const wrong of [`${foreign}~${ca}`, `~${ca}`, `${appliance.tenantId}~`, appliance.tenantId]) {
      expect((await get(`/.well-known/est/${wrong}/cacerts`)).status, wrong).toBe(404);
    }
  });

  test('R10: est.https-url lists both forms by host name and by address, and both work as printed', async () => {
    const urls: readonly string[] = (await appliance.state(ca)).est['https-url'];
    expect(urls).toHaveLength(6);
    for (const url of urls.filter((one) => !one.includes('[::1]'))) {
      const { origin, pathname } = new URL(url);
      expect((await send(origin, `${pathname}/cacerts`, { ca: appliance.caPem })).status, url).toBe(200);
    }
    const written = await appliance.request('PATCH', `/v1/config/keystore/tls/ca/${ca}`, { est: { 'https-url': [] } });
    expect({ status: written.status, code: written.body.code }).toEqual({ status: 400, code: 'read-only-field' });
  });
});

describe('with a URL that a person gave for the service', () => {
  let named: EstAppliance;

  beforeAll(async () => {
    named = await startEstAppliance({ publicUrl: 'https://keys.example:8443/below', isUrlGiven: true });
  });

  test('est.https-url begins with its host, on the port of EST, and lists none twice', async () => {
    const name = await named.makeCa();
    const urls: readonly string[] = (await named.state(name)).est['https-url'];
    const { port } = new URL(named.est);
    const base = `https://keys.example:${port}/.well-known/est/${named.tenantId}`;
    expect(urls.slice(0, 2)).toEqual([`${base}/${name}`, `${base}~${name}`]);
    expect(urls).toHaveLength(8);
    expect(new Set(urls).size).toBe(urls.length);
  });

  test('est.https-url begins with est/public-url where one is configured: another port, or that of https', async () => {
    const behind = await startEstAppliance({ configuration: { est: { publicUrl: 'https://est.example:443/' } } });
    const name = await behind.makeCa();
    const urls: readonly string[] = (await behind.state(name)).est['https-url'];
    const base = `https://est.example/.well-known/est/${behind.tenantId}`;
    expect(urls.slice(0, 3)).toEqual([
      `${base}/${name}`,
      `${base}~${name}`,
      `${behind.est.replace('127.0.0.1', 'localhost')}${new URL(base).pathname}/${name}`,
    ]);
    expect(urls).toHaveLength(8);
  });
});
