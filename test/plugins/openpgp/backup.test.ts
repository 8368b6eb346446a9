// OpenPGP records from a backup are untrusted: each field is checked against the public key and the signatures.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { OpenpgpDefinition, OpenpgpKey, OpenpgpKeys, OpenpgpRecord } from '../../../plugins/openpgp/records.ts';
import { acceptRestored } from '../../../plugins/openpgp/backup.ts';
import { bindSubkey, certifyPrimary } from '../../../plugins/openpgp/certificates/certificate.ts';
import { importCertificate } from '../../../plugins/openpgp/certificates/import-public-key.ts';
import { formatFingerprint } from '../../../plugins/openpgp/format/packets.ts';
import { publicKeyBody, type Signer } from '../../../plugins/openpgp/format/signer.ts';
import { noFields, statementWith } from './harness.ts';

const now = Temporal.Instant.from('2027-01-01T00:00:00Z');
const created = 1_750_000_000;
const [primary, subkey, other] = [makeSigner(created), makeSigner(created - 10), makeSigner(created)];

const definition: OpenpgpDefinition = {
  tenantId: 'tenant',
  name: 'restored',
  cipher: 'ed25519',
  fields: { ...noFields, openpgpUserId: 'Ada' },
  signs: true,
  verificationOnly: false,
};
const subkeyDefinition: OpenpgpDefinition = { ...definition, fields: { ...noFields, openpgpPrimary: 'root', openpgpKeyUsage: ['sign'] } };
const target: OpenpgpKey = {
  ...definition,
  fields: noFields,
  keyId: 'id',
  exportable: false,
  isPublished: false,
  latestVersion: 1,
  versions: [],
};

const primaryRecord: OpenpgpRecord = {
  fingerprints: [formatFingerprint(primary.fingerprint)],
  created,
  notBefore: created,
  ...(await certifyPrimary(primary, statementWith('Ada'), created)),
};
const subkeyRecord: OpenpgpRecord = {
  fingerprints: [formatFingerprint(subkey.fingerprint)],
  created: created - 10,
  notBefore: created,
  certificate: primaryRecord.certificate,
  subkey: {
    ...(await bindSubkey(primary, subkey, undefined)),
    primaryVersion: 1,
    primaryFingerprint: formatFingerprint(primary.fingerprint),
  },
};

const { certificate: othersCertificate } = await certifyPrimary(other, statementWith('Ada'), created);

async function accept(as: OpenpgpDefinition, publicKey: Uint8Array | undefined, record: unknown): Promise<unknown> {
  // A target without User ID has no subkeys to ask about.
  const accepted = await acceptRestored(
    target,
    as,
    [{ version: 3, publicKey, hasPrivateKey: false, attached: record }],
    {} as OpenpgpKeys,
    now,
  );
  return accepted.get(3);
}

test('own records come back as they are', async () => {
  expect(await accept(definition, primary.spki, primaryRecord)).toEqual(primaryRecord);
  expect(await accept(subkeyDefinition, subkey.spki, subkeyRecord)).toEqual(subkeyRecord);
  expect(await accept(definition, primary.spki, undefined)).toBeUndefined();
});

test('a private key of an OpenPGP key has its certificate', async () => {
  const versions = [{ version: 3, publicKey: primary.spki, hasPrivateKey: true, attached: undefined }];
  const accepted = acceptRestored(target, definition, versions, {} as OpenpgpKeys, now);
  await expect(accepted).rejects.toMatchObject({ code: 'invalid-key-data' });
});

test('an imported block is read again', async () => {
  const block = readFileSync(new URL('../../interop/openpgp-corpus/gpg-nistp256.asc', import.meta.url), 'utf8');
  const { publicKey, record } = await importCertificate(block, now);
  const verificationOnly = { ...definition, cipher: 'ecdsa-p256', fields: noFields, verificationOnly: true };
  expect(await accept(verificationOnly, publicKey, { ...record, fingerprints: ['A'.repeat(40)], created: 1 })).toEqual(record);
  await expect(accept(verificationOnly, primary.spki, record)).rejects.toMatchObject({ code: 'invalid-value' });
});

const flipped = (octets: Uint8Array, at: number): Uint8Array => octets.map((octet, index) => (index === at ? octet ^ 1 : octet));

describe('refused (invalid-value)', () => {
  const { certificate } = primaryRecord;
  test.each<readonly [string, OpenpgpDefinition, Uint8Array | undefined, unknown]>([
    ['no object', definition, primary.spki, 'record'],
    ['another field', definition, primary.spki, { ...primaryRecord, more: 1 }],
    ['no public key', definition, undefined, primaryRecord],
    ['another public key', definition, other.spki, primaryRecord],
    ['another fingerprint', definition, primary.spki, { ...primaryRecord, fingerprints: subkeyRecord.fingerprints }],
    [
      'two fingerprints',
      definition,
      primary.spki,
      { ...primaryRecord, fingerprints: [...primaryRecord.fingerprints, ...subkeyRecord.fingerprints] },
    ],
    ['another creation', definition, primary.spki, { ...primaryRecord, created: created + 1 }],
    ['an earlier date to sign from', definition, primary.spki, { ...primaryRecord, notBefore: created - 1 }],
    ['a later date to sign from', definition, primary.spki, { ...primaryRecord, notBefore: created + 1 }],
    ['a certificate of somebody else', definition, primary.spki, { ...primaryRecord, certificate: othersCertificate }],
    ['a certificate that is none', definition, primary.spki, { ...primaryRecord, certificate: new Uint8Array(10) }],
    ['a changed key', definition, primary.spki, { ...primaryRecord, certificate: flipped(certificate, 20) }],
    ['a changed signature', definition, primary.spki, { ...primaryRecord, certificate: flipped(certificate, certificate.length - 1) }],
    ['another User ID', { ...definition, fields: { ...noFields, openpgpUserId: 'Eve' } }, primary.spki, primaryRecord],
    ['a primary as subkey', subkeyDefinition, primary.spki, primaryRecord],
    ['a subkey as primary', definition, subkey.spki, subkeyRecord],
    [
      'a subkey of another primary',
      subkeyDefinition,
      subkey.spki,
      { ...subkeyRecord, subkey: { ...subkeyRecord.subkey, primaryFingerprint: formatFingerprint(other.fingerprint) } },
    ],
    ['a binding under another certificate', subkeyDefinition, subkey.spki, { ...subkeyRecord, certificate: othersCertificate }],
    ['a symmetric key', { ...definition, cipher: 'aes256-gcm96' }, primary.spki, primaryRecord],
  ])('%s', async (_, as, publicKey, record) => {
    await expect(accept(as, publicKey, record)).rejects.toMatchObject({ code: 'invalid-value', status: 400 });
  });
});

function makeSigner(at: number): Signer & { readonly spki: Uint8Array } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const body = publicKeyBody('ed25519', spki, at);
  if (body === undefined) throw new Error('ed25519 has no OpenPGP form');
  return { ...body, spki, sign: async ({ digest }) => sign(null, digest, privateKey), draw: async (octets) => randomBytes(octets) };
}
