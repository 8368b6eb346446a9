// Messages and requests of HTTP that a server of SCEP has to survive: undecryptable ones with one answer, old algorithms, questions about others,
// every form of GET, and what is served beside the operations.
import { execFileSync } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeEnvelope, makeRequest, type EnvelopeParts } from '../../harness/scep/messages.ts';
import {
  ask,
  certificatesOf,
  csrOf,
  type Device,
  holding,
  makeDevice,
  newTransaction,
  numberOf,
  registrationOf,
  send,
  serialOf,
} from './device.ts';
import { openScep, type ScepAppliance, secret, startScepAppliance } from './scep-appliance.ts';

let appliance: ScepAppliance;
let ca: string;
let device: Device;

beforeAll(async () => {
  appliance = await startScepAppliance();
  ca = await appliance.makeCa();
  device = await makeDevice();
});

test('all that cannot be decrypted has one answer and one record, whatever is wrong, and is limited for each address', async () => {
  const name = await appliance.makeCa();
  const registration = await registrationOf(appliance, name);
  const csr = await csrOf(device.keys, secret);
  const garbage = Buffer.concat([csr.subarray(0, 100), randomBytes(csr.length - 100)]);
  const forged = Buffer.from(csr);
  forged[forged.length - 5] = (forged[forged.length - 5] as number) ^ 1;
  const wrong: Readonly<Record<string, Partial<EnvelopeParts>>> = {
    'a content key of another length': { contentKey: randomBytes(16), cipher: 'aes-128-cbc' },
    'bad padding of the content': { padded: randomBytes(64) },
    'no content': { content: new Uint8Array(0) },
    'a content that is not a request': { content: randomBytes(200) },
    'a request whose signature does not verify': { content: forged },
    'a request that is cut': { content: garbage },
  };
  const sealed = Object.values(wrong).map((parts) => makeEnvelope({ content: csr, recipients: [registration.raw], ...parts }));
  // The encrypted key is changed: its padding is then wrong.
  const good = Buffer.from(makeEnvelope({ content: csr, recipients: [registration.raw] }));
  const encryptedKey = good.indexOf(Buffer.of(0x04, 0x82, 0x01, 0x00)) + 4;
  for (const at of [encryptedKey + 200, encryptedKey + 255]) {
    const changed = Buffer.from(good);
    changed[at] = (changed[at] as number) ^ 1;
    sealed.push(changed);
  }
  // The first is a good one: its content key has the length of its cipher.
  const answers: unknown[] = [];
  for (const one of sealed.slice(1)) {
    const transactionId = newTransaction();
    const message = makeRequest({ signer: device, envelope: one, transactionId });
    const { pkiStatus, failInfo, failText, status } = await send(appliance, name, message, device, registration);
    const { transaction, ...recorded } = appliance.audited().at(-1)?.['request-parameters'] ?? {};
    expect(transaction).toBe(transactionId);
    answers.push({ pkiStatus, failInfo, failText, status, recorded, code: appliance.audited().at(-1)?.code });
  }
  for (const one of answers) expect(one).toEqual(answers[0]);
  expect(answers[0]).toMatchObject({ pkiStatus: '2', failInfo: '1', code: 'scep-badMessageCheck' });
  for (let more = answers.length; more < 10; more += 1)
    await send(appliance, name, makeRequest({ signer: device, envelope: sealed[1] }), device, registration);
  const eleventh = await send(appliance, name, makeRequest({ signer: device, envelope: sealed[1] }), device, registration);
  expect(eleventh).toMatchObject({ status: 429, pkiStatus: undefined });
  // A good one from the same address passes.
  expect((await ask(appliance, name, device, csr, { transactionId: newTransaction() })).pkiStatus).toBe('0');
});

test('a changed message, whatever octet, issues nothing and is answered without an error of the server', { timeout: 120_000 }, async () => {
  const name = await appliance.makeCa();
  const registration = await registrationOf(appliance, name);
  const message = Buffer.from(
    makeRequest({ signer: device, envelope: makeEnvelope({ content: await csrOf(device.keys, secret), recipients: [registration.raw] }) }),
  );
  const statuses = new Set<number>();
  for (let at = 0; at < message.length; at += 23) {
    // Refused messages are limited by address.
    appliance.clock.step(61);
    const changed = Buffer.from(message);
    changed[at] = (changed[at] as number) ^ 0x21;
    const response = await fetch(`${appliance.urlOf(name)}?operation=PKIOperation`, { method: 'POST', body: changed });
    statuses.add(response.status);
    await response.arrayBuffer();
  }
  for (const status of statuses) expect([200, 400]).toContain(status);
  const certificates = (await appliance.list(name, 'certificates')) as { via: string }[];
  // Octets that prove nothing may change: unsigned parts, and those of a signature that is verified another way.
  expect(certificates.filter(({ via }) => via.startsWith('scep-')).length).toBeLessThanOrEqual(1);
});

describe('old algorithms', () => {
  test('are taken by name alone, and are in the record', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { ...openScep.scep, 'allow-old': ['sha1', 'des'] } });
    const csr = await csrOf(device.keys, secret);
    const taken = await ask(appliance, name, device, csr, {
      transactionId: newTransaction(),
      digest: 'sha1',
      envelope: { cipher: 'des-cbc' },
    });
    expect([taken.pkiStatus, taken.certificate?.subject]).toEqual(['0', 'CN=dev.example.test']);
    expect(appliance.audited().at(-1)?.['request-parameters']).toMatchObject({ 'old-algorithms': ['sha1', 'des'] });
    const refused = await ask(appliance, name, device, csr, { transactionId: newTransaction(), envelope: { cipher: 'des-ede3-cbc' } });
    expect([refused.failInfo, refused.failText]).toEqual(['0', expect.stringContaining('des3')]);
  });

  test('GetCACaps offers what is allowed, and is never empty', async () => {
    const caps = async (name: string) => (await (await fetch(`${appliance.urlOf(name)}?operation=GetCACaps`)).text()).trim().split('\n');
    const usual = ['POSTPKIOperation', 'Renewal', 'SCEPStandard', 'AES', 'SHA-256', 'SHA-384', 'SHA-512'];
    expect(await caps(ca)).toEqual(usual);
    const old = await appliance.makeCa({ ...openScep, scep: { ...openScep.scep, 'allow-old': ['sha1', 'des3', 'md5', 'des'] } });
    expect(await caps(old)).toEqual([...usual, 'SHA-1', 'DES3']);
  });

  test.each(['oaep-sha1', 'oaep-sha256', 'oaep-sha512'] as const)('the key transport %s is taken', async (transport) => {
    const taken = await ask(appliance, ca, device, await csrOf(device.keys, secret), {
      transactionId: newTransaction(),
      envelope: { transport, cipher: 'aes-256-cbc' },
    });
    expect(taken.pkiStatus).toBe('0');
  });
});

describe('questions', () => {
  test('GetCert answers the holder of a certificate for one of its key, and says the same of others and of none', async () => {
    const first = await ask(appliance, ca, device, await csrOf(device.keys, secret), { transactionId: newTransaction() });
    const certificate = first.certificate as X509Certificate;
    const asked = { messageType: '21', transactionId: 'SSCEP transactionId' };
    const holder = holding(device, certificate);
    expect((await ask(appliance, ca, holder, serialOf(certificate), asked)).certificate?.serialNumber).toBe(certificate.serialNumber);
    const other = await makeDevice();
    const foreign = await ask(appliance, ca, other, await csrOf(other.keys, secret), { transactionId: newTransaction() });
    const [, issuer] = certificatesOf(Buffer.from(await (await fetch(`${appliance.urlOf(ca)}?operation=GetCACert`)).arrayBuffer()));
    const unknown = numberOf(issuer as X509Certificate, 77);
    for (const signer of [holder, await makeDevice()]) {
      const refused = await ask(appliance, ca, signer, serialOf(foreign.certificate as X509Certificate), asked);
      const none = await ask(appliance, ca, signer, unknown, asked);
      expect([refused.failInfo, refused.failText, refused.content]).toEqual([none.failInfo, none.failText, undefined]);
      expect(refused.failInfo).toBe('4');
    }
  });

  test('GetCRL answers with the revocation list', async () => {
    const first = await ask(appliance, ca, device, await csrOf(device.keys, secret), { transactionId: newTransaction() });
    const serial = (first.certificate as X509Certificate).serialNumber.toLowerCase();
    expect((await appliance.act(ca, 'revoke', { serial })).status).toBe(200);
    const reply = await ask(appliance, ca, device, serialOf(first.certificate as X509Certificate), {
      messageType: '22',
      transactionId: '1',
    });
    const info = pkijs.ContentInfo.fromBER(new Uint8Array(reply.content ?? []).buffer);
    const { crls = [] } = new pkijs.SignedData({ schema: info.content });
    const listed = (crls[0] as pkijs.CertificateRevocationList).revokedCertificates?.map(({ userCertificate }) =>
      Buffer.from(userCertificate.valueBlock.valueHexView).toString('hex'),
    );
    expect(listed).toContain(serial);
  });
});

describe('over HTTP', () => {
  test('GetCACert has the registration authority first, then the CA, over TLS and without, with every tail of the URL', async () => {
    for (const tail of ['', '/pkiclient.exe', '/cgi-bin/pkiclient.exe', '/']) {
      const response = await fetch(`${appliance.urlOf(ca)}${tail}?operation=GetCACert&message=0`);
      expect([tail, response.status, response.headers.get('content-type')]).toEqual([tail, 200, 'application/x-x509-ca-ra-cert']);
      const certificates = certificatesOf(Buffer.from(await response.arrayBuffer()));
      expect(certificates.map(({ subject }) => subject)).toEqual([`CN=${ca} registration`, `CN=${ca}`]);
      expect(certificates[0]?.checkIssued(certificates[1] as X509Certificate)).toBe(true);
    }
    const { scep } = (await appliance.state(ca)) as { scep: { url: string[] } };
    expect(scep.url).toEqual(expect.arrayContaining([appliance.urlOf(ca), `${appliance.secure}/scep/${appliance.tenantId}/${ca}`]));
  });

  test('PKIOperation is taken by GET in every form of base64 that clients send', async () => {
    const registration = await registrationOf(appliance, ca);
    const envelope = makeEnvelope({ content: await csrOf(device.keys, secret), recipients: [registration.raw] });
    const base64 = Buffer.from(makeRequest({ signer: device, envelope, transactionId: newTransaction() })).toString('base64');
    const forms = {
      escaped: encodeURIComponent(base64),
      'plus and slash bare': base64.replaceAll('=', '%3D'),
      'url alphabet': base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '%3D'),
      'in lines': encodeURIComponent(base64.replaceAll(/.{64}/g, '$&\n')),
    };
    for (const [form, message] of Object.entries(forms)) {
      const response = await fetch(`${appliance.urlOf(ca)}/pkiclient.exe?message=${message}&operation=PKIOperation`);
      expect([form, response.status, response.headers.get('content-type')]).toEqual([form, 200, 'application/x-pki-message']);
      await response.arrayBuffer();
    }
    expect(appliance.audited().at(-1)?.['request-parameters']).toMatchObject({ 'pki-status': 'success', repetition: true });
  });

  test('off, unknown and foreign are 404, as is a next certificate; other methods are 405', async () => {
    const off = await appliance.makeCa({ est: openScep.est });
    const get = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).status;
    const foreign = appliance.urlOf(ca).replace(appliance.tenantId, '00000000-0000-4000-8000-000000000000');
    for (const base of [appliance.urlOf(off), appliance.urlOf('none'), foreign, `${appliance.urlOf(ca)}/other`, `${appliance.plain}/other`])
      expect([base, await get(`${base}?operation=GetCACaps`)]).toEqual([base, 404]);
    for (const query of ['operation=GetNextCACert', 'operation=Nothing', '', 'operation=GetCACaps&operation=GetCACaps'])
      expect([query, await get(`${appliance.urlOf(ca)}?${query}`)]).toEqual([query, 404]);
    expect(await get(`${appliance.urlOf(ca)}?operation=GetCACert`, { method: 'POST', body: 'x' })).toBe(405);
    expect(await get(`${appliance.urlOf(ca)}?operation=PKIOperation&message=!`)).toBe(400);
    expect(await get(`${appliance.urlOf(ca)}?operation=PKIOperation`, { method: 'POST', body: randomBytes(300) })).toBe(400);
    expect(await get(`${appliance.urlOf(ca)}?operation=PKIOperation`, { method: 'POST', body: Buffer.alloc(100_000) })).toBe(413);
  });

  test('the next CA is told as soon as one is named, signed, and no other one of its name later', async () => {
    const [name, next] = [await appliance.makeCa(), await appliance.makeCa()];
    const get = (operation: string) => fetch(`${appliance.urlOf(name)}?operation=${operation}`);
    expect((await get('GetNextCACert')).status).toBe(404);
    expect(await (await get('GetCACaps')).text()).not.toContain('GetNextCACert');
    for (const wrong of [name, 'nobody'])
      expect(await appliance.request('PATCH', `/v1/config/keystore/tls/ca/${name}`, { scep: { 'next-ca': wrong } })).toMatchObject({
        ...{ status: 400, body: { detail: expect.stringContaining('another CA') } },
      });
    await appliance.patchCa(name, { scep: { 'next-ca': next } });
    expect(await (await get('GetCACaps')).text()).toContain('GetNextCACert\n');
    const response = await get('GetNextCACert');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-x509-next-ca-cert']);
    const directory = appliance.directory;
    const anchor = (await appliance.state(name))['ca-cert'] as string;
    writeFileSync(`${directory}/next.der`, Buffer.from(await response.arrayBuffer()));
    writeFileSync(`${directory}/anchor.pem`, anchor);
    const seconds = String(Math.floor(appliance.clock.now().epochMilliseconds / 1_000));
    const content = execFileSync(
      'openssl',
      ['cms', '-verify', '-inform', 'DER', '-in', 'next.der', '-CAfile', 'anchor.pem', '-purpose', 'any', '-binary', '-attime', seconds],
      { cwd: directory, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const listed = execFileSync('openssl', ['pkcs7', '-inform', 'DER', '-print_certs'], { input: content }).toString();
    expect(new X509Certificate(listed).raw).toEqual(new X509Certificate((await appliance.state(next))['ca-cert'] as string).raw);
    expect((await appliance.request('DELETE', `/v1/config/keystore/tls/ca/${next}`)).status).toBe(204);
    expect((await get('GetNextCACert')).status).toBe(404);
    expect((await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: next, ...openScep })).status).toBe(201);
    expect((await get('GetNextCACert')).status).toBe(404);
  });

  test('the listener serves CA certificates and lists, and nothing else of the API', async () => {
    const get = async (path: string) => {
      const response = await fetch(`${appliance.plain}${path}`);
      return [response.status, Buffer.from(await response.arrayBuffer())] as const;
    };
    const [status, pem] = await get(`/v1/ca/${appliance.tenantId}/${ca}/ca.pem`);
    expect([status, new X509Certificate(pem).subject]).toEqual([200, `CN=${ca}`]);
    const [listStatus, list] = await get(`/v1/ca/${appliance.tenantId}/${ca}/crl`);
    expect([listStatus, list[0]]).toEqual([200, 0x30]);
    for (const path of ['/v1/state/tenants/system', '/v1/openapi.json', '/', '/v1/system/health']) expect((await get(path))[0]).toBe(404);
  });

  test('a sealed appliance answers 503 and when to try again', async () => {
    appliance.setSealed(true);
    const response = await fetch(`${appliance.urlOf(ca)}?operation=GetCACaps`);
    appliance.setSealed(false);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
  });
});

test('a CA with a key for ML-DSA, and one that is only trusted, are refused at configuration', async () => {
  const make = (fields: object) =>
    appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'refused', ...fields, scep: { enabled: true } });
  expect(await make({ 'cert-key-type': 'ml-dsa-65' })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('SCEP encrypts to RSA keys') },
  });
  const { 'ca-cert': certificate } = await appliance.state(ca);
  expect(await make({ 'ca-cert': certificate })).toMatchObject({ status: 400, body: { detail: expect.stringContaining('trust-only') } });
});
