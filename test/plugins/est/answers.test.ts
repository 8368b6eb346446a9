// What answers look like on the wire (requirements R67 to R74).
import { X509Certificate } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { readOnly, tag } from '../../../core/der/der.ts';
import { type Audit, hasCredential } from '../../../core/audit/record.ts';
import type { Log } from '../../../core/base/context.ts';
import { HsmError } from '../../../hsm/api.ts';
import { createEstApp } from '../../../plugins/est/app.ts';
import { openEstListener } from '../../../plugins/est/listener/server.ts';
import { fail } from '../../../core/base/errors.ts';
import { silentLog } from '../../harness/log.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { basic, pkcs10, type Reply, send, type Sending } from './client.ts';
import { type EstAppliance, estParts, openEst, secret, startEstAppliance } from './est-appliance.ts';
import { makeDeviceCsr, makeKeys, readCertsOnly } from '../ca/pki.ts';

let appliance: EstAppliance;
let ca: string;
let csr: Buffer;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa();
  csr = await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test');
});

const enrol = (from = ca): Promise<Reply> => appliance.enrol(from, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } });

describe('encoding', () => {
  test('R67: header names in canonical case, exact Content-Length, media type to the letter, base64 in lines of 64 ended by LF', async () => {
    for (const reply of [await appliance.call(ca, 'cacerts'), await enrol()]) {
      expect(reply.status).toBe(200);
      expect(reply.reason).toBe('OK');
      expect(reply.rawHeaders.get('Content-Type')).toBe('application/pkcs7-mime; smime-type=certs-only');
      expect(reply.rawHeaders.get('Content-Transfer-Encoding')).toBe('base64');
      expect(reply.rawHeaders.get('Content-Length')).toBe(String(reply.body.length));
      expect([...reply.rawHeaders.keys()].filter((name) => /^[a-z]/.test(name))).toEqual([]);
      const lines = reply.text.split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.slice(0, -1).every((line) => line.length === 64)).toBe(true);
      expect(reply.text).not.toContain('\r');
    }
  });

  test('each answer, a refusal too, has the id under which the audit trail has it', async () => {
    const ids = [await enrol(), await appliance.enrol(ca, 'simpleenroll', csr), await appliance.call('no-such-ca', 'cacerts')].map(
      ({ rawHeaders }) => rawHeaders.get('Request-Id'),
    );
    expect(appliance.audited().map((record) => record['request-id'])).toEqual(expect.arrayContaining(ids));
    expect(new Set(ids).size).toBe(3);
  });

  test('R67: an HTTP/1.0 request gets an HTTP/1.0 answer, and the connection ends', async () => {
    const { hostname, port } = new URL(appliance.est);
    const ask = async (lines: string): Promise<string> => {
      const socket = connect({ host: hostname, port: Number(port), ca: appliance.caPem });
      socket.write(lines);
      return text(socket);
    };
    const answer = await ask(`GET /.well-known/est/${appliance.tenantId}/${ca}/cacerts HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.0 200 OK\r\nContent-Type: application\/pkcs7-mime; smime-type=certs-only\r\n/);
    expect(readCertsOnly(answer.split('\r\n\r\n')[1] ?? '')).toHaveLength(1);
    const path = `/.well-known/est/${appliance.tenantId}/${ca}/simpleenroll`;
    expect(await ask(`POST ${path} HTTP/1.0\r\nContent-Type: application/pkcs10\r\nContent-Length: 4\r\n\r\nAAAA`)).toMatch(
      /^HTTP\/1\.0 401 Unauthorized\r\n/,
    );
  });

  test('R68: SignedData of version 1 without digests, content, signers; eContent is absent', async () => {
    const outer = readOnly(Buffer.from((await enrol()).text, 'base64'), tag.sequence);
    outer.next(tag.oid);
    const signedData = outer.enter(tag.constructed(0)).enter(tag.sequence);
    expect([...signedData.next(tag.integer).content]).toEqual([1]);
    expect(signedData.next(tag.set).content).toHaveLength(0);
    const content = signedData.enter(tag.sequence);
    expect(Buffer.from(content.next(tag.oid).content).toString('hex')).toBe('2a864886f70d010701');
    expect(content.more).toBe(false);
    expect(signedData.next(tag.constructed(0)).content.length).toBeGreaterThan(100);
    expect(signedData.next(tag.set).content).toHaveLength(0);
    expect(signedData.more).toBe(false);
  });

  test('R69: an enrolment answers exactly the new certificate', async () => {
    expect(readCertsOnly((await enrol()).text)).toHaveLength(1);
  });

  test('R70: cacerts has the CA and every issuer up to the root, needs no credential, and works before anything is configured', async () => {
    const root = await appliance.makeCa({});
    const middle = await appliance.makeCa({ 'issuing-ca': root });
    const bottom = await appliance.makeCa({ 'issuing-ca': middle, est: { enabled: true } });
    const reply = await appliance.call(bottom, 'cacerts');
    const certificates = readCertsOnly(reply.text);
    expect(new Set(certificates.map(({ subject }) => subject))).toEqual(new Set([`CN=${root}`, `CN=${middle}`, `CN=${bottom}`]));
    const sorted = certificates.map(({ raw }) => raw).toSorted((left, right) => Buffer.compare(left, right));
    expect(certificates.map(({ raw }) => raw)).toEqual(sorted);
  });

  test('R71: after a renewal cacerts has the old root and the pair that links old and new, while the old one lives', async () => {
    const from = await appliance.makeCa({ ttl: '10d', est: openEst });
    const [old] = readCertsOnly((await appliance.call(from, 'cacerts')).text);
    appliance.clock.advance(5 * 86_400);
    expect((await appliance.act(from, 'renew')).status).toBe(200);
    const certificates = readCertsOnly((await appliance.call(from, 'cacerts')).text);
    expect(certificates).toHaveLength(4);
    const current = new X509Certificate((await appliance.state(from))['ca-cert']);
    const verifies = (by: X509Certificate) => certificates.filter((one) => one.verify(by.publicKey)).length;
    expect(certificates.some((one) => one.raw.equals((old as X509Certificate).raw))).toBe(true);
    expect([verifies(old as X509Certificate), verifies(current)]).toEqual([2, 2]);
    appliance.clock.advance(6 * 86_400);
    expect(readCertsOnly((await appliance.call(from, 'cacerts')).text)).toHaveLength(1);
    await appliance.setBack(11 * 86_400);
  });
});

describe('errors', () => {
  test('R72: one line of plain text: no JSON, no stack, nothing of the request', async () => {
    const replies = [
      await appliance.call('no-such-ca', 'cacerts'),
      await appliance.call(ca, 'cacerts', { method: 'DELETE' }),
      await appliance.call(ca, 'simplereenroll', { method: 'POST' }),
      await appliance.enrol(ca, 'simpleenroll', Buffer.from('junk-in-request'), { headers: { Authorization: basic(secret) } }),
      await appliance.enrol(ca, 'simpleenroll', await makeDeviceCsr(await makeKeys('P-256'), 'evil.test'), {
        headers: { Authorization: basic(secret) },
      }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([404, 405, 401, 400, 403]);
    for (const { rawHeaders, text } of replies) {
      expect(rawHeaders.get('Content-Type')).toBe('text/plain; charset=utf-8');
      expect(rawHeaders.get('Strict-Transport-Security')).toBe('max-age=31536000');
      expect(text).toMatch(/^[^\n{}<>]{5,250}\n$/);
      expect(text).not.toMatch(/junk|evil|node_modules|\bat /);
    }
  });

  test('R73: sealed, or the HSM away: 503 with Retry-After in seconds; cacerts goes on without the HSM', async () => {
    appliance.setSealed(true);
    const sealed = await enrol();
    appliance.setSealed(false);
    expect({ status: sealed.status, retry: sealed.headers['retry-after'] }).toEqual({ status: 503, retry: '30' });

    const { hsm } = appliance;
    const sign = hsm.sign.bind(hsm);
    hsm.sign = () => Promise.reject(new HsmError('unavailable', 'the token is away'));
    const away = await enrol();
    const trusted = await appliance.call(ca, 'cacerts');
    hsm.sign = sign;
    expect({ status: away.status, retry: away.headers['retry-after'] }).toEqual({ status: 503, retry: '30' });
    expect(trusted.status).toBe(200);
    expect((await enrol()).status).toBe(200);
  });

  test('an audit trail that cannot be written: 503, and no certificate leaves; cacerts goes on', async () => {
    const { directory } = appliance;
    const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
    const listed = async (): Promise<number> =>
      (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates?limit=1000`)).body.length;
    // Known to be unwritable before the signature; found to be only when the record is written.
    for (const [writable, issued] of [
      [false, 0],
      [true, 1],
    ] as const) {
      const audit: Audit = { writable, write: () => Promise.reject(new Error('the disk is full')) };
      const handler = createEstApp({ ...estParts(appliance), audit, log });
      const identity = selfSignedIdentity(directory);
      const listener = await openEstListener({ host: '127.0.0.1', port: 0, identity, handler, log });
      const at = (operation: string, sending: Sending) =>
        send(`https://127.0.0.1:${listener.port}`, `/.well-known/est/${appliance.tenantId}/${ca}/${operation}`, {
          ca: identity.cert,
          ...sending,
        });
      const before = await listed();
      const reply = await at('simpleenroll', pkcs10(csr, { Authorization: basic(secret) }));
      expect({ status: reply.status, retry: reply.headers['retry-after'] }).toEqual({ status: 503, retry: '30' });
      expect(reply.text).not.toMatch(/^MII/);
      expect((await at('cacerts', {})).status).toBe(200);
      expect(await listed()).toBe(before + issued);
      await listener.close(1_000);
    }
  });

  test('a tenant that has used up its quota is told when to come again; what somebody asks without a credential is not its', async () => {
    const admit = (): never => {
      throw fail('quota-exceeded', { retryAfterSeconds: 7 });
    };
    const audit: Audit = { writable: true, write: () => Promise.resolve() };
    const handler = createEstApp({ ...estParts(appliance), audit, log: silentLog, admit });
    const identity = selfSignedIdentity(appliance.directory);
    const listener = await openEstListener({ host: '127.0.0.1', port: 0, identity, handler, log: silentLog });
    for (const [operation, password, status] of [
      ['cacerts', undefined, 200],
      ['simpleenroll', secret, 429],
      ['simpleenroll', 'a wrong secret', 401],
      ['nothing', undefined, 404],
    ] as const) {
      const where = `/.well-known/est/${appliance.tenantId}/${ca}/${operation}`;
      const sending = password === undefined ? {} : pkcs10(csr, { Authorization: basic(password) });
      const reply = await send(`https://127.0.0.1:${listener.port}`, where, { ca: identity.cert, ...sending });
      expect(reply.status).toBe(status);
      expect(reply.headers['retry-after']).toBe(status === 429 ? '7' : undefined);
    }
    await listener.close(1_000);
  });

  test('only the record of a sender whose credential was accepted says so', async () => {
    const marks: (readonly [number | undefined, boolean | undefined])[] = [];
    const write: Audit['write'] = async (record) => void marks.push([record.status, record[hasCredential]]);
    const handler = createEstApp({ ...estParts(appliance), audit: { writable: true, write }, log: silentLog });
    const identity = selfSignedIdentity(appliance.directory);
    const listener = await openEstListener({ host: '127.0.0.1', port: 0, identity, handler, log: silentLog });
    const { 'initial-enroll-secret': _none, ...closedEst } = openEst;
    const closed = await appliance.makeCa({ est: closedEst });
    for (const [to, password] of [
      [ca, secret],
      [ca, 'a wrong secret'],
      [closed, secret],
    ] as const) {
      const where = `/.well-known/est/${appliance.tenantId}/${to}/simpleenroll`;
      await send(`https://127.0.0.1:${listener.port}`, where, { ca: identity.cert, ...pkcs10(csr, { Authorization: basic(password) }) });
    }
    expect(marks).toEqual([
      [200, true],
      [401, false],
      [403, false],
    ]);
    await listener.close(1_000);
  });

  test('R74: a fault of token or CA is 500 without detail, nothing is half-issued, and the process goes on', async () => {
    const { hsm } = appliance;
    const list = async (): Promise<unknown> =>
      (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates?limit=1000`)).body;
    const before = await list();
    const sign = hsm.sign.bind(hsm);
    // As the HSM client does with a signature that its caller finds wrong; without a check it would be in a certificate.
    hsm.sign = async (key, use, holds) => {
      const signature = await sign(key, use);
      signature[5] = (signature[5] ?? 0) ^ 1;
      if (holds?.(signature) === false) throw new Error('a wrong signature');
      return signature;
    };
    const reply = await enrol();
    hsm.sign = sign;
    expect(reply).toMatchObject({
      status: 500,
      text: expect.stringMatching(
        /^Internal error \([0-9a-f-]{36}\)\. The administrator finds the reason in system:logs under the request id\.\n$/,
      ) as string,
    });
    expect(await list()).toEqual(before);
    expect((await enrol()).status).toBe(200);
  });
});
