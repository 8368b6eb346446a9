// The service `certificate-authority` as a protocol of encrypted messages uses it: registration authorities with keys in the token, revocation
// lists and certificates by serial number.
import { constants, publicEncrypt, randomBytes, verify, X509Certificate } from 'node:crypto';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CertificateAuthorities, CertificateAuthority } from '../../../core/plugin/services/certificate-authority.ts';
import type { KeyTransport, RegistrationAuthority } from '../../../core/plugin/services/registration-authority.ts';
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import { caKeyHolders } from '../../../plugins/ca/authority/generation.ts';
import { currentCrl } from '../../../plugins/ca/status/crl.ts';
import { openCaContext } from '../../../plugins/ca/context.ts';
import { readCertificate } from '../../../plugins/ca/der/certificate.ts';
import { silentLog } from '../../harness/log.ts';
import { openEst, startEstAppliance, type EstAppliance, estParts } from '../est/est-appliance.ts';
import { makeDeviceCsr, makeIdentity } from './pki.ts';

let appliance: EstAppliance;
let authorities: CertificateAuthorities;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ({ authorities } = estParts(appliance));
});

function find(name: string): CertificateAuthority {
  appliance.store.refresh();
  const found = authorities.find(appliance.tenantId, name);
  if (found === undefined) throw new Error(`there is no CA ${name}`);
  return found;
}

async function registrationOf(name: string): Promise<RegistrationAuthority> {
  const registration = await find(name).registrationAuthority();
  if (registration === undefined) throw new Error('the CA has no registration authority');
  return registration;
}

/** Issues a certificate to a device. */
async function issueTo(name: string, device: string) {
  const { keys } = await makeIdentity({ key: 'RSA-2048' });
  return find(name)
    .readRequest(await makeDeviceCsr(keys, device))
    .approve()
    .issue({ via: 'test' });
}

/** A content key for the certificate, by every transport that clients use. */
function sealedFor(certificate: Uint8Array, key: Buffer): readonly (readonly [KeyTransport, Buffer])[] {
  const { publicKey } = new X509Certificate(certificate);
  const oaep = (['sha1', 'sha256', 'sha512'] as const).map((hash) => {
    const padding = { key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash };
    return [{ padding: 'oaep', hash } as const, publicEncrypt(padding, key)] as const;
  });
  return [[{ padding: 'pkcs1v15' }, publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, key)], ...oaep];
}

/** Opens each, with the certificate for which it was sealed. */
async function openAll(registration: RegistrationAuthority, certificate: Uint8Array, sealed: ReturnType<typeof sealedFor>, bytes: number) {
  const own = registration.certificates.find((one) => Buffer.compare(one, certificate) === 0) ?? certificate;
  return Promise.all(sealed.map(async ([transport, octets]) => Buffer.from(await registration.openKey(own, transport, octets, bytes))));
}

describe.each([
  ['ecdsa', {}],
  ['rsa', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }],
])('a CA with key %s', (_title, fields) => {
  let ca: string;

  beforeAll(async () => {
    ca = await appliance.makeCa({ ...fields, est: openEst });
  });

  test('opens content keys by every transport, and gives as many pseudo-random octets for all that does not decrypt', async () => {
    const registration = await registrationOf(ca);
    const key = randomBytes(16);
    const sealed = sealedFor(registration.certificate, key);
    expect(await openAll(registration, registration.certificate, sealed, 16)).toEqual(sealed.map(() => key));
    const other = sealedFor((await registrationOf(await appliance.makeCa({ est: openEst }))).certificate, key);
    for (const [cases, bytes] of [
      [other, 16],
      [sealed, 24],
      [sealed.map(([transport, octets]) => [transport, octets.subarray(1)] as const), 16],
    ] as const)
      for (const opened of await openAll(registration, registration.certificate, cases, bytes))
        expect([opened.length, opened.equals(key)]).toEqual([bytes, false]);
    await expect(registration.openKey(Uint8Array.of(1), { padding: 'pkcs1v15' }, randomBytes(256), 16)).rejects.toThrow('not one of');
  });

  test('signs with the key of its certificate', async () => {
    const registration = await registrationOf(ca);
    const octets = randomBytes(100);
    for (const hash of ['sha256', 'sha384', 'sha512'] as const)
      expect(verify(hash, octets, new X509Certificate(registration.certificate).publicKey, await registration.sign(hash, octets))).toBe(
        true,
      );
  });

  test('has a registration authority with a certificate of its own, for nothing else, that both kinds of clients take', async () => {
    const { certificate } = await registrationOf(ca);
    const read = new X509Certificate(certificate);
    expect(read.verify(new X509Certificate(find(ca).trustedCertificates()[0] as Uint8Array).publicKey)).toBe(true);
    expect(read.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2_048 });
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.28']);
    const { extensions } = pkijs.Certificate.fromBER(new Uint8Array(certificate).buffer);
    const usage = extensions?.find(({ extnID }) => extnID === '2.5.29.15')?.parsedValue as { valueBlock: { valueHexView: Uint8Array } };
    // digitalSignature and keyEncipherment
    expect(usage.valueBlock.valueHexView[0]).toBe(0b1010_0000);
    expect(find(ca).findIssued(certificate)).toMatchObject({ problem: 'not-for-clients' });
    expect((await registrationOf(ca)).certificate).toEqual(certificate);
  });

  test('lists a revoked certificate, which is then found as such', async () => {
    const { serial } = await issueTo(ca, 'gone.example.test');
    expect(find(ca).findBySerial(serial)).toMatchObject({ problem: undefined });
    expect((await appliance.act(ca, 'revoke', { serial, reason: 'superseded' })).status).toBe(200);
    expect(find(ca).findBySerial(serial)).toMatchObject({ problem: 'revoked' });
    const list = pkijs.CertificateRevocationList.fromBER(new Uint8Array(await find(ca).revocationList()).buffer);
    const listed = list.revokedCertificates?.map(({ userCertificate }) =>
      Buffer.from(userCertificate.valueBlock.valueHexView).toString('hex'),
    );
    expect(listed).toContain(serial);
    expect(find(ca).findBySerial('00')).toBeUndefined();
  });

  test('opens what was encrypted before a renewal, after which there is another certificate', async () => {
    const before = await registrationOf(ca);
    const key = randomBytes(32);
    const sealed = sealedFor(before.certificate, key);
    const { serial } = readCertificate(before.certificate);
    expect((await appliance.act(ca, 'revoke', { serial, reason: 'key-compromise' })).status).toBe(200);
    const [after, again] = await Promise.all([registrationOf(ca), registrationOf(ca)]);
    expect(after.certificate).not.toEqual(before.certificate);
    expect(again.certificate).toEqual(after.certificate);
    expect(after.certificates).toEqual([after.certificate, before.certificate]);
    expect(await openAll(after, before.certificate, sealed, 32)).toEqual(sealed.map(() => key));
  });
});

test('settings are of a protocol, and undefined where it is off', async () => {
  const settings = async (est: object) => find(await appliance.makeCa({ est })).enrolment('est');
  expect(await settings({})).toBeUndefined();
  expect(find(await appliance.makeCa({ est: openEst })).enrolment('another')).toBeUndefined();
  expect(await settings({ ...openEst, 'allow-reenroll-with-issued-cert': false })).toEqual({
    sharedSecret: 'first:enrolment secret',
    takesTrustedCertificates: false,
    renewsHeldCertificates: false,
    makesKeys: false,
  });
});

test('the state says when it was made, when it ends, and from when it is renewed', async () => {
  const ca = await appliance.makeCa({ est: openEst });
  const times = async () => {
    const { scep, cmp } = (await appliance.state(ca)) as Record<'scep' | 'cmp', Record<string, unknown>>;
    const [ofScep, ofCmp] = [scep, cmp].map((of) =>
      Object.fromEntries(Object.entries(of).filter(([name]) => name.startsWith('registration'))),
    );
    expect(ofCmp).toEqual(ofScep);
    return ofScep as Record<string, string>;
  };
  expect(await times()).toEqual({});
  const { certificate } = await registrationOf(ca);
  const { notBefore, notAfter, serial } = readCertificate(certificate);
  const life = notBefore.until(notAfter).total('seconds');
  const shown = await times();
  expect(Object.keys(shown)).toHaveLength(3);
  const [begin, end, renewal] = ['not-before', 'not-after', 'renewal-time'].map((name) =>
    Temporal.Instant.from(shown[`registration-${name}`] ?? ''),
  );
  expect([begin, end]).toEqual([notBefore, notAfter]);
  expect(renewal?.until(notAfter).total('seconds')).toBe(Math.floor(life / 4));
  // What is not used any more is renewed at once.
  expect((await appliance.act(ca, 'revoke', { serial, reason: 'superseded' })).status).toBe(200);
  expect(await times()).toMatchObject({ 'registration-renewal-time': shown['registration-not-before'] });
  expect((await registrationOf(ca)).certificate).not.toEqual(certificate);
});

test('its key is among those that get a new wrapping key', async () => {
  const ca = await appliance.makeCa({ est: openEst });
  const { certificate } = await registrationOf(ca);
  appliance.store.refresh();
  const { hsm, clock, store } = appliance;
  const rotation = new WrappingRotation({ store, hsm, clock });
  const context = openCaContext({ hsm, clock, rotation, store: store.prefixed('est'), log: silentLog, statusUrl: () => undefined });
  const { id } = find(ca);
  const holder = Array.from(caKeyHolders(context)).find(({ keys }) => keys.some(({ binding }) => binding.keyId === id));
  const [key] = holder?.keys.filter(({ binding }) => binding.purpose === 'ra') ?? [];
  if (holder === undefined || key === undefined) throw new Error('no holder has the key of the registration authority');
  const rewrapped = { ...key.stored, blob: randomBytes(8) };
  await store.write((transaction) => expect(holder.replace(transaction, new Map([[key.stored, rewrapped]]))).toBe(1));
  store.refresh();
  const [registration] = context.tables.cas.get([appliance.tenantId, ca])?.registrations ?? [];
  expect(registration?.certificate).toEqual(certificate);
  expect(Buffer.from(registration?.key.stored.blob ?? []).equals(rewrapped.blob)).toBe(true);
});

test('processes that make one at the same time use the same, and one certificate is on record', async () => {
  const ca = await appliance.makeCa({ est: openEst });
  appliance.store.refresh();
  const processes = [authorities, estParts(appliance).authorities, estParts(appliance).authorities];
  const made = await Promise.all(processes.map(async (process) => process.find(appliance.tenantId, ca)?.registrationAuthority()));
  const [first] = made;
  for (const one of made) expect(one?.certificate).toEqual(first?.certificate);
  appliance.store.refresh();
  const { body } = await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates`);
  const issued = (body as readonly { readonly via: string }[]).filter(({ via }) => via === 'registration-authority');
  expect(issued).toHaveLength(1);
  // Each of them opens what was encrypted for it.
  if (first === undefined) throw new Error('the CA has no registration authority');
  const key = randomBytes(16);
  const sealed = sealedFor(first.certificate, key);
  for (const one of made) expect(await openAll(one as RegistrationAuthority, first.certificate, sealed, 16)).toEqual(sealed.map(() => key));
});

test('of two processes that make the first revocation list at once, the slower one gives the list of the higher number', async () => {
  const ca = await appliance.makeCa({ est: openEst });
  const { hsm, clock, store } = appliance;
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const slow = new Proxy(hsm, {
    get: (target, name) =>
      name === 'sign' ? async (...args: Parameters<typeof hsm.sign>) => held.then(() => target.sign(...args)) : Reflect.get(target, name),
  });
  const listOf = (token: typeof hsm) => {
    const rotation = new WrappingRotation({ store, hsm, clock });
    const parts = { clock, rotation, store: store.prefixed('est'), log: silentLog, statusUrl: () => undefined };
    const context = openCaContext({ hsm: token, ...parts });
    store.refresh();
    const record = context.tables.cas.get([appliance.tenantId, ca]);
    const [generation] = record?.generations ?? [];
    if (record === undefined || generation === undefined) throw new Error('there is no CA');
    return currentCrl(context, { tenantId: appliance.tenantId, record }, generation);
  };
  const slower = listOf(slow);
  const higher = await listOf(hsm);
  release();
  expect(await slower).toEqual(higher);
});

test('the keys of a registration authority go with its CA', async () => {
  const ca = await appliance.makeCa({ est: openEst, 'deletion-allowed': true });
  await registrationOf(ca);
  expect((await appliance.request('DELETE', `/v1/config/keystore/tls/ca/${ca}`)).status).toBe(204);
  appliance.store.refresh();
  expect(authorities.find(appliance.tenantId, ca)).toBeUndefined();
});
