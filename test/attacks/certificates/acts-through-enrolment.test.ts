// A common mistake: a protocol by which devices enrol and revoke does what its endpoint of the API asks approval for. The revocation of a CA is the one
// act that enrolment could reach; with a rule for every act it is refused over each protocol, and what devices do goes on.
import { KeyObject, X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { sequence } from '../../../core/der/der.ts';
import acme from '../../../plugins/acme/index.ts';
import est from '../../../plugins/est/index.ts';
import { acts } from '../../../core/approvals/acts.ts';
import { type AccountKeys, AcmeClient } from '../../harness/acme/client.ts';
import { makeAuthority, type RegistrationAuthority } from '../../harness/cmp/authority.ts';
import { type CmpReply, holding, partsOf, send } from '../../harness/cmp/device.ts';
import { bodies, implicitConfirm, newKeys, type Protect, raVerified, requestOf, revocationOf } from '../../harness/cmp/messages.ts';
import { makeCsr, makeDeviceCsr, makeKeys } from '../../plugins/ca/pki.ts';
import { type CmpAppliance, cmpSecret, openCmp, startCmpAppliance } from '../../plugins/cmp/cmp-appliance.ts';
import { basic, pkcs10, type Reply, send as sendEst } from '../../plugins/est/client.ts';
import { ask as askScep, csrOf, holding as holdingScep, makeDevice, newTransaction } from '../../plugins/scep/device.ts';
import { secret } from '../../plugins/scep/scep-appliance.ts';

let appliance: CmpAppliance;
let authority: RegistrationAuthority;
let ca = '';
/** a CA whose key is elsewhere, and one whose key is here, both certified by `ca` */
let [elsewhere, below]: (X509Certificate | undefined)[] = [];
let keyElsewhere: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

beforeAll(async () => {
  authority = makeAuthority();
  appliance = await startCmpAppliance({ plugins: [acme, est] });
  const cmp = { ...openCmp.cmp, 'ra-certs': [authority.pem], 'allow-reenroll-with-issued-cert': true };
  ca = await appliance.makeCa({
    ...{ cmp, scep: { enabled: true, 'initial-enroll-secret': secret }, acme: { enabled: true, 'external-account-required': false } },
    est: { ...openCmp.est, enabled: true, 'initial-enroll-secret': secret, 'server-keygen': true },
  });
  const keys = await makeKeys('P-256');
  keyElsewhere = { privateKey: KeyObject.from(keys.privateKey), publicKey: KeyObject.from(keys.publicKey) };
  const csr = (await makeCsr({ keys, subject: 'CN=elsewhere' })).toString('base64');
  const made = await appliance.act(ca, 'certify-ca', { csr });
  expect(made).toMatchObject({ status: 200 });
  elsewhere = new X509Certificate(String(made.body.certificate));
  await appliance.makeCa({ 'issuing-ca': ca });
  const listed = (await appliance.list(ca, 'certificates')) as { readonly serial: string; readonly via: string }[];
  const serial = listed.find(({ via }) => via === 'issuing-ca')?.serial ?? '';
  const { body } = await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates/${serial}`);
  below = new X509Certificate(String(body.certificate));
  await appliance.request('POST', '/v1/config/keystore/authentication/approles', { name: 'anna' });
  const rule = { name: 'every-act', acts, needed: 1, approvers: { approles: ['anna'] }, force: true };
  expect((await appliance.request('POST', '/v1/config/approval/rules', rule)).status).toBe(201);
}, 60_000);

const revokedOf = async (certificate: X509Certificate | undefined): Promise<string> => {
  const serial = certificate?.serialNumber.toLowerCase() ?? '';
  const listed = (await appliance.list(ca, 'certificates')) as { readonly serial: string; readonly status: string }[];
  return String(listed.find((one) => one.serial === serial)?.status);
};
const revokeByCmp = (certificate: X509Certificate, protect: Protect): Promise<CmpReply> => {
  const { issuer, serial } = partsOf(certificate);
  return send(appliance.cmpUrl(ca), { type: bodies.rr, body: revocationOf(issuer, serial, 4), protect });
};
const revokeAtApi = async (certificate: X509Certificate | undefined): Promise<unknown> => {
  const { status, body } = await appliance.act(ca, 'revoke', { serial: certificate?.serialNumber.toLowerCase() });
  return body.code ?? status;
};

test('over /v1 the revocation of a CA asks for approval', async () => {
  for (const one of [elsewhere, below]) expect(await revokeAtApi(one)).toBe('approval-needed');
});

test('over CMP neither a registration authority nor the CA itself revokes a CA', async () => {
  for (const one of [elsewhere, below])
    expect(await revokeByCmp(one as X509Certificate, authority.protect)).toMatchObject({ type: bodies.rp, failInfo: 'badCertId' });
  const own = holding(keyElsewhere, elsewhere as X509Certificate);
  expect((await revokeByCmp(elsewhere as X509Certificate, own)).failInfo).toBe('signerNotTrusted');
  for (const one of [elsewhere, below]) expect(await revokedOf(one)).toBe('valid');
});

test('over ACME neither the key of a CA nor an account revokes it', async () => {
  const url = `${appliance.secure}/acme/${appliance.tenantId}/${ca}/directory`;
  const keys: AccountKeys = {
    privateKey: keyElsewhere.privateKey,
    jwk: keyElsewhere.publicKey.export({ format: 'jwk' }) as Record<string, string>,
    alg: 'ES256',
  };
  const [byKey, byAccount] = [new AcmeClient(url, appliance.caPem, keys), new AcmeClient(url, appliance.caPem)];
  expect((await byAccount.register()).status).toBe(201);
  for (const client of [byKey, byAccount])
    for (const one of [elsewhere, below]) {
      const reply = await client.post(`${client.base}/revoke-cert`, { certificate: one?.raw.toString('base64url') });
      expect(reply).toMatchObject({ status: 400, body: { type: 'urn:ietf:params:acme:error:malformed' } });
    }
  for (const one of [elsewhere, below]) expect(await revokedOf(one)).toBe('valid');
});

test('devices enrol, and they and their registration authority revoke what they got, as people do over /v1', async () => {
  const enrol = async (): Promise<{ certificate: X509Certificate; keys: ReturnType<typeof newKeys> }> => {
    const keys = newKeys();
    const body = sequence(requestOf({ keys, proof: raVerified }));
    const parts = { type: bodies.ir, body, info: [implicitConfirm], protect: authority.protect };
    const { certificate, reason } = await send(appliance.cmpUrl(ca), parts, cmpSecret);
    expect(certificate, reason).toBeDefined();
    return { certificate: certificate as X509Certificate, keys };
  };
  const [first, second, third] = [await enrol(), await enrol(), await enrol()];
  expect(await revokeByCmp(first.certificate, authority.protect)).toMatchObject({ type: bodies.rp, status: 0 });
  expect(await revokeByCmp(second.certificate, holding(second.keys, second.certificate))).toMatchObject({ type: bodies.rp, status: 0 });
  expect(await revokeAtApi(third.certificate)).toBe(200);
});

/** An enrolment over EST by the secret of the CA. */
const overEst = async (operation: string, csr: Buffer, more: object = {}): Promise<Reply> =>
  sendEst(appliance.est, `/.well-known/est/${appliance.tenantId}/${ca}/${operation}`, {
    ca: appliance.caPem,
    ...pkcs10(csr, { authorization: basic(secret) }),
    ...more,
  });

test('over EST and SCEP devices enrol and renew without approval, and get no names that the CA does not allow', async () => {
  const keys = await makeKeys('P-256');
  const csr = await makeDeviceCsr(keys, 'device.example.test');
  const attributes = await sendEst(appliance.est, `/.well-known/est/${appliance.tenantId}/${ca}/csrattrs`, { ca: appliance.caPem });
  expect(attributes.status).toBe(200);
  expect((await overEst('simpleenroll', csr)).status).toBe(200);
  const otherName = await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=elsewhere' });
  expect((await overEst('simpleenroll', otherName)).status).toBe(403);
  const device = await makeDevice();
  const first = await askScep(appliance, ca, device, await csrOf(device.keys, secret), { transactionId: newTransaction() });
  expect(first.pkiStatus).toBe('0');
  const holder = holdingScep(device, first.certificate as X509Certificate);
  const renewal = { transactionId: newTransaction(), messageType: '17' } as const;
  expect((await askScep(appliance, ca, holder, await csrOf(await makeKeys('RSA-2048'), undefined), renewal)).pkiStatus).toBe('0');
  const named = await csrOf(device.keys, secret, 'elsewhere');
  expect((await askScep(appliance, ca, device, named, { transactionId: newTransaction() })).pkiStatus).toBe('2');
  const listed = (await appliance.list(ca, 'certificates')) as { readonly via: string }[];
  expect(
    listed
      .map(({ via }) => via)
      .filter((via) => /est|scep/.test(via))
      .toSorted(),
  ).toEqual(['est-secret', 'scep-renewal', 'scep-shared-secret']);
});
