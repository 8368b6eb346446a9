// Channel binding and challengePassword (requirements R75 to R77).
import { beforeAll, expect, test } from 'vitest';
import { basic, pkcs10, type Sending, send } from './client.ts';
import { type EstAppliance, secret, startEstAppliance } from './est-appliance.ts';
import { type Keys, makeCsr, makeKeys, x509 } from '../ca/pki.ts';

let appliance: EstAppliance;
let ca: string;
let keys: Keys;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa();
  keys = await makeKeys('P-256');
});

const makeBound = (password: string): Promise<Buffer> =>
  makeCsr({ keys, subject: 'CN=device.example.test', attributes: [new x509.ChallengePasswordAttribute(password)] });

async function enrol(sending: Sending): Promise<{ status: number; text: string; protocol: string }> {
  const { headers } = pkcs10(Buffer.alloc(0), { Authorization: basic(secret) });
  const path = `/.well-known/est/${appliance.tenantId}/${ca}/simpleenroll`;
  return send(appliance.est, path, {
    ca: appliance.caPem,
    method: 'POST',
    headers: { ...headers, 'Transfer-Encoding': 'chunked' },
    ...sending,
  });
}

test('R75: on TLS 1.2 the binding is tls-unique, the Finished message of the client', async () => {
  const reply = await enrol({
    maxVersion: 'TLSv1.2',
    bodyFor: async (socket) => (await makeBound((socket.getFinished() as Buffer).toString('base64'))).toString('base64'),
  });
  expect(reply).toMatchObject({ status: 200, protocol: 'TLSv1.2' });
});

test('R75: on TLS 1.3 the binding is tls-exporter (RFC 9266)', async () => {
  const reply = await enrol({
    bodyFor: async (socket) =>
      (await makeBound(socket.exportKeyingMaterial(32, 'EXPORTER-Channel-Binding', Buffer.alloc(0)).toString('base64'))).toString('base64'),
  });
  expect(reply).toMatchObject({ status: 200, protocol: 'TLSv1.3' });
});

test('R75: a binding of another connection is 400, and the text names it', async () => {
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const reply = await enrol({
      maxVersion,
      bodyFor: async () => (await makeBound(Buffer.alloc(12, 7).toString('base64'))).toString('base64'),
    });
    expect(reply).toMatchObject({ status: 400, text: expect.stringMatching(/channel binding/) as string });
  }
});

test('R76: the shared secret as challengePassword is 400, as SCEP devices would send it', async () => {
  for (const password of [secret, '', 'x']) {
    expect((await enrol({ bodyFor: async () => (await makeBound(password)).toString('base64') })).status, password).toBe(400);
  }
});

test('R77: a request without binding is accepted', async () => {
  const csr = await makeCsr({ keys, subject: 'CN=device.example.test' });
  expect((await enrol({ bodyFor: async () => csr.toString('base64') })).status).toBe(200);
});
