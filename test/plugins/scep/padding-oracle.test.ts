// Attacks on recorded requests: the attacker keeps the encrypted content key of another device, changes the ciphertext, signs what comes of it, and
// learns from answers whether it decrypts to what the server reads.
import { randomBytes, type X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { encode, integer, Reader, readOnly, sequence, tag } from '../../../core/der/der.ts';
import { makeEnvelope, makeRequest, namesOf } from '../../harness/scep/messages.ts';
import { ask, csrOf, type Device, holding, makeDevice, newTransaction, registrationOf, send, serialOf } from './device.ts';
import { type ScepAppliance, secret, startScepAppliance } from './scep-appliance.ts';

let appliance: ScepAppliance;
let outsider: Device;

beforeAll(async () => {
  appliance = await startScepAppliance();
  outsider = await makeDevice('CN=outsider');
});

/** The certificate with another serial number; its signature does not hold then, as that of no self-signed one needs to. */
function withSerial(certificate: Uint8Array, serial: Uint8Array): Uint8Array {
  const [signed, ...rest] = Array.from(readOnly(certificate, tag.sequence).rest());
  const fields = Array.from(new Reader(signed?.content ?? certificate).rest(), ({ tag: kind, whole }) =>
    kind === tag.integer ? serial : whole,
  );
  return sequence(sequence(...fields), ...rest.map(({ whole }) => whole));
}

/** A CA, and a device that holds a certificate of it. */
async function prepare() {
  const ca = await appliance.makeCa();
  const device = await makeDevice();
  const first = await ask(appliance, ca, device, await csrOf(device.keys, secret), { transactionId: newTransaction() });
  const certificate = first.certificate as X509Certificate;
  return { ca, certificate, insider: holding(device, certificate), registration: await registrationOf(appliance, ca) };
}

describe.each(['17', '19', '20', '21', '22'])('messageType %s', (messageType) => {
  test.each(['an outsider', 'a device of the CA'])('tells %s nothing of a ciphertext that it has changed', async (who) => {
    const { ca, certificate, insider, registration } = await prepare();
    const signer = who === 'an outsider' ? outsider : insider;
    const contentKey = randomBytes(16);
    const { issuer } = namesOf(certificate.raw);
    const garbage = encode(tag.integer, randomBytes(40));
    const contents = {
      // What the attack makes of blocks whose plaintext it knows: an outer form that holds, around octets that it does not know.
      'an empty issuer': sequence(sequence(), garbage),
      'an issuer of garbage': sequence(encode(tag.sequence, randomBytes(20)), garbage),
      'the right issuer': sequence(issuer, garbage),
      'an unknown certificate': sequence(issuer, integer(77)),
      'a serial number longer than keys of the store': sequence(issuer, encode(tag.integer, randomBytes(2_000))),
      'two names': sequence(issuer, issuer),
      'a request of garbage': sequence(sequence(integer(0), sequence(), sequence()), sequence(), encode(tag.bitString, randomBytes(40))),
    };
    const sealed = [
      ...Object.values(contents).map((content) => makeEnvelope({ content, contentKey, recipients: [registration.raw] })),
      makeEnvelope({ content: randomBytes(1), padded: randomBytes(64), contentKey, recipients: [registration.raw] }),
      makeEnvelope({ content: randomBytes(60), contentKey, recipients: [registration.raw] }),
    ];
    const told: unknown[] = [];
    for (const envelope of sealed) {
      const message = makeRequest({ signer, envelope, messageType, transactionId: newTransaction() });
      const { status, pkiStatus, failInfo, failText } = await send(appliance, ca, message, signer, registration);
      told.push({ status, pkiStatus, failInfo, failText });
    }
    expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(1);
  });
});

test('questions of an address that has sent too much that does not decrypt are refused before they are decrypted', async () => {
  const { ca, certificate, insider, registration } = await prepare();
  const ofContent = (content: Uint8Array) =>
    send(
      appliance,
      ca,
      makeRequest({ signer: insider, envelope: makeEnvelope({ content, recipients: [registration.raw] }), messageType: '21' }),
      insider,
      registration,
    );
  expect((await ofContent(serialOf(certificate))).pkiStatus).toBe('0');
  for (let sent = 0; sent < 10; sent++) expect((await ofContent(randomBytes(40))).failInfo).toBe('4');
  const answers = [await ofContent(randomBytes(40)), await ofContent(serialOf(certificate))];
  for (const { status, text } of answers) {
    expect(status).toBe(429);
    expect(text).toContain('refused messages');
  }
});

test('a signer with a serial number longer than keys of the store holds no certificate', async () => {
  const { ca } = await prepare();
  const certificate = withSerial(outsider.certificate, encode(tag.integer, Buffer.alloc(1_500, 1)));
  const reply = await ask(appliance, ca, { ...outsider, certificate: Buffer.from(certificate) }, await csrOf(outsider.keys, secret), {
    transactionId: newTransaction(),
  });
  expect([reply.status, reply.pkiStatus]).toEqual([200, '0']);
});
