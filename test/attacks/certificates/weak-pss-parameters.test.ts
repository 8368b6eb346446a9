// OpenSSL CVE-2015-3194: a signature by RSASSA-PSS without the parameter of its mask ended the verifier; absent parameters mean SHA-1 (RFC 4055).
import { constants, sign } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { pssIdentifier } from '../../../core/cms/pss.ts';
import { bitString, encode, explicit, integer, nullValue, objectIdentifier, Reader, sequence, tag } from '../../../core/der/der.ts';
import { type Keys, makeDeviceCsr, makeKeys } from '../../plugins/ca/pki.ts';
import { basic } from '../../plugins/est/client.ts';
import { type EstAppliance, secret, startEstAppliance } from '../../plugins/est/est-appliance.ts';

let appliance: EstAppliance;
let ca: string;
let keys: Keys;
let info: Uint8Array;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa();
  keys = await makeKeys('RSA-2048');
  info = new Reader(await makeDeviceCsr(keys, 'device.example.test')).enter(tag.sequence).next(tag.sequence).whole;
});

const pss = objectIdentifier('1.2.840.113549.1.1.10');
const sha1 = sequence(objectIdentifier('1.3.14.3.2.26'), nullValue);
const sha256 = sequence(objectIdentifier('2.16.840.1.101.3.4.2.1'), nullValue);
const mgf1 = objectIdentifier('1.2.840.113549.1.1.8');
const mask = (hash: Uint8Array) => sequence(mgf1, hash);
const parameters = (...fields: readonly Uint8Array[]) => sequence(pss, sequence(...fields));
const salted = (length: number | Uint8Array) => explicit(2, integer(length));

/** Sends the request with this algorithm and a signature that is right for the salt and hash; gives the status. */
async function statusOf(algorithm: Uint8Array, { hash = 'sha256', saltLength = 32 } = {}): Promise<number> {
  const signature = sign(hash, info, { key: keys.pem, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
  const csr = Buffer.from(sequence(info, algorithm, bitString(signature)));
  return (await appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } })).status;
}

const both = [explicit(0, sha256), explicit(1, mask(sha256))];

test.each([
  ['none', sequence(pss)],
  ['NULL in their place', sequence(pss, nullValue)],
  ['empty ones', parameters()],
  ['no mask', parameters(explicit(0, sha256), salted(32))],
  ['a mask without its hash', parameters(explicit(0, sha256), explicit(1, sequence(mgf1)), salted(32))],
  ['a mask that is none', parameters(explicit(0, sha256), explicit(1, sequence(pss, sha256)), salted(32))],
  ['a mask of SHA-1', parameters(explicit(0, sha256), explicit(1, mask(sha1)), salted(32))],
  ['no hash', parameters(explicit(1, mask(sha256)), salted(32))],
  ['the hash twice', parameters(explicit(0, sha256), ...both, salted(32))],
  ['another salt', parameters(...both, salted(31))],
  ['a salt below zero', parameters(...both, explicit(2, encode(tag.integer, Uint8Array.of(0xff))))],
  ['a salt longer than the key', parameters(...both, salted(2_147_483_647))],
  ['a salt beyond every number', parameters(...both, salted(Uint8Array.of(1, ...new Uint8Array(10))))],
  ['a trailer of nobody', parameters(...both, salted(32), explicit(3, integer(2)))],
  ['octets behind them', sequence(pss, sequence(...both, salted(32)), nullValue)],
] as const)('parameters with %s are refused, and nothing ends', async (_what, algorithm) => {
  expect(await statusOf(algorithm)).toBe(400);
});

test('SHA-1 by its defaults is refused where the signature fits, and where it is named', async () => {
  const fitting = { hash: 'sha1', saltLength: 20 };
  expect(await statusOf(parameters(), fitting)).toBe(400);
  expect(await statusOf(parameters(explicit(0, sha1), explicit(1, mask(sha1)), salted(20)), fitting)).toBe(400);
});

test('the same request with its right parameters is taken after all that', async () => {
  expect(await statusOf(parameters(...both, salted(32)))).toBe(200);
  expect(await statusOf(pssIdentifier('sha256'))).toBe(200);
});
