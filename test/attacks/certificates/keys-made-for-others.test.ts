// RFC 7030 section 4.4: servers may send keys that they make in clear inside TLS, or encrypted to a key that the request names.
import { beforeAll, expect, test } from 'vitest';
import { type Identity, type Keys, makeCsr, makeDeviceCsr, makeIdentity, makeKeys, x509 } from '../../plugins/ca/pki.ts';
import { basic, pkcs10, type Reply } from '../../plugins/est/client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from '../../plugins/est/est-appliance.ts';

const name = 'device.example.test';
let appliance: EstAppliance;
let ca: string;
let birth: Identity;
let device: Identity;
let keys: Keys;

beforeAll(async () => {
  appliance = await startEstAppliance();
  birth = await makeIdentity({ subject: 'CN=Birth', ca: true });
  await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'birth-ca', 'ca-cert': birth.pem });
  ca = await appliance.makeCa({ est: { ...openEst, 'server-keygen': true, 'initial-enroll-trust-ca': 'birth-ca' } });
  device = await makeIdentity({ subject: 'CN=born', issuer: birth, key: 'RSA-2048' });
  keys = await makeKeys('P-256');
});

async function ask(csr: Buffer, client?: Identity, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const request = pkcs10(csr, headers);
  return appliance.call(ca, 'serverkeygen', { ...request, ...(client === undefined ? {} : { client, issuers: [birth] }) });
}
const serials = async (): Promise<readonly string[]> => {
  const { body } = await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates`);
  return (body as readonly { readonly serial: string }[]).map(({ serial }) => serial);
};

test('a stolen secret alone gets no key, and one who shows a certificate of somebody gets none either', async () => {
  const csr = await makeDeviceCsr(keys, name);
  const before = await serials();
  expect((await ask(csr, undefined, { Authorization: basic(secret) })).status).toBe(400);
  expect((await ask(csr)).status).toBe(401);
  // The names are right, the signature is another's.
  const forged = await makeIdentity({ subject: 'CN=born', issuer: { ...birth, keys: await makeKeys('P-256') }, key: 'RSA-2048' });
  expect((await ask(csr, forged)).status).toBe(401);
  expect(await serials()).toEqual(before);
});

test('no header and no attribute has the key come in clear, or to another than the certificate that is shown', async () => {
  const attribute = (id: string) => new x509.Attribute(id, [Uint8Array.of(4, 1, 97).buffer]);
  // DecryptKeyIdentifier and AsymmetricDecryptKeyIdentifier (RFC 7030 4.4.1).
  for (const attributes of [[], ...['1.2.840.113549.1.9.16.2.37', '1.2.840.113549.1.9.16.2.54'].map((id) => [attribute(id)])])
    for (const headers of [{}, { Accept: 'application/pkcs8' }, { Accept: 'multipart/mixed, application/pkcs8' }]) {
      const csr = await makeCsr({ keys, subject: `CN=${name}`, names: [{ type: 'dns', value: name }], attributes });
      const { status, text } = await ask(csr, device, headers);
      // A request that names another key is refused.
      expect([status, text.includes('smime-type=server-generated-key')]).toEqual(attributes.length === 0 ? [200, true] : [400, false]);
      expect(text).not.toMatch(/application\/pkcs8|PRIVATE KEY/);
    }
});

test('the same request several times at once makes as many keys as it is answered with', async () => {
  const csr = await makeDeviceCsr(keys, name);
  // The first one has the registration authority made as well.
  expect((await ask(csr, device)).status).toBe(200);
  const before = await serials();
  const replies = await Promise.all([1, 2, 3, 4].map(async () => ask(csr, device)));
  // A sender has two in the making at most; the others are to come again.
  const answered = replies.filter(({ status }) => status === 200);
  expect(answered.length).toBeGreaterThanOrEqual(2);
  const others = replies.filter(({ status, text }) => status === 503 && text.includes('Too many keys are being made'));
  expect(answered.length + others.length).toBe(4);
  expect((await serials()).length).toBe(before.length + answered.length);
  const keyParts = answered.map(({ text }) => text.split('\r\n\r\n')[1]);
  expect(new Set(keyParts).size).toBe(answered.length);
});
