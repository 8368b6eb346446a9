// Export of private keys in OpenPGP's format, for gpg and sq.
import { createPrivateKey } from 'node:crypto';
import { concat } from '../../../core/base/bytes.ts';
import { fail as failCore } from '../../../core/base/errors.ts';
import type { ExportedVersion } from '../../../core/plugin/services/transit-keys.ts';
import { lifetimeOf, type OpenpgpKey, type OpenpgpVersion } from '../records.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { fail } from '../errors.ts';
import { certifyPrimary } from './certificate.ts';
import { requireUserId } from '../definition.ts';
import { formatArmor } from '../format/keyblock.ts';
import { packet, packetTag, splitPacket, uint16 } from '../format/packets.ts';
import { requireSigner, type Signer } from '../format/signer.ts';

/** See ExportFormat.plan. Throws missing-field when no User ID is known, invalid-value, operation-not-supported. */
export function planSecretExport(
  hsm: Hsm,
  key: OpenpgpKey,
  versions: readonly OpenpgpVersion[],
  requestedUserId: string | undefined,
): () => Promise<ExportedVersion[]> {
  const signers = versions.map((version) => ({ version, signer: requireSigner(hsm, key, version) }));
  const userId = chooseUserId(key, requestedUserId);
  if (userId === undefined && signers.some(({ signer }) => signer.version === 6)) throw noStub();
  return async () => {
    const exported: ExportedVersion[] = [];
    for (const { version, signer } of signers)
      exported.push({ version: version.version, value: await exportVersion(hsm, key, version, signer, userId) });
    return exported;
  };
}

function noStub(): Error {
  return fail('operation-not-supported', {
    detail: 'A private subkey of version 6 has no form without the private primary key. Export it as PEM, or make keys of version 4.',
  });
}

/** Chooses the User ID; undefined for a subkey, which has that of its primary. */
function chooseUserId(key: OpenpgpKey, requested: string | undefined): string | undefined {
  if (key.fields.openpgpPrimary !== undefined) {
    if (requested === undefined) return undefined;
    throw failCore('invalid-value', {
      detail: 'A subkey is exported with the User ID of its primary key; leave openpgp-user-id out.',
      items: [{ message: 'not allowed for a subkey', info: 'openpgp-user-id' }],
    });
  }
  const userId = requested ?? key.fields.openpgpUserId;
  if (userId !== undefined) return requireUserId(userId);
  throw failCore('missing-field', {
    detail: 'The key has no User ID: give openpgp-user-id with the request, or set it on the key.',
    items: [{ message: 'required, because the key has none', info: 'openpgp-user-id' }],
  });
}

async function exportVersion(
  hsm: Hsm,
  key: OpenpgpKey,
  version: OpenpgpVersion,
  signer: Signer,
  userId: string | undefined,
): Promise<string> {
  const subkey = version.attached?.subkey;
  const certificate = userId === undefined ? version.attached?.certificate : await certificateWith(userId, key, version, signer);
  if (certificate === undefined) throw new Error('a subkey version has no OpenPGP record');
  const primary = splitPacket(certificate);
  const secret = await secretKeyBody(hsm, version, signer);
  const packets =
    subkey === undefined
      ? concat(packet(packetTag.secretKey, secret), primary.rest)
      : concat(
          packet(packetTag.secretKey, stubBody(primary.body)),
          primary.rest,
          packet(packetTag.secretSubkey, secret),
          splitPacket(subkey.packets).rest,
        );
  secret.fill(0);
  const block = formatArmor('private', packets, signer.version);
  packets.fill(0);
  return block;
}

// The published certificate if it has that User ID; otherwise a new one, also dated at the creation of the key.
async function certificateWith(userId: string, key: OpenpgpKey, version: OpenpgpVersion, signer: Signer): Promise<Uint8Array> {
  const published = key.fields.openpgpUserId === userId ? version.attached?.certificate : undefined;
  if (published !== undefined) return published;
  const statement = { userIds: [userId], revokedUserIds: [], lifetime: lifetimeOf(key.fields) };
  return (await certifyPrimary(signer, statement, signer.created)).certificate;
}

/** public body ‖ 00 (in clear) ‖ material ‖ sum of its octets(2), which version 6 has not (RFC 9580, 5.5.3). */
async function secretKeyBody(hsm: Hsm, version: OpenpgpVersion, signer: Signer): Promise<Uint8Array> {
  if (version.key === undefined) throw new Error('a signer without a private key');
  const pkcs8 = await hsm.readKeyMaterialInClear(version.key);
  const jwk = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' }).export({ format: 'jwk' });
  pkcs8.fill(0);
  const material = signer.algorithm.secretMaterial(jwk);
  const checksum = uint16(material.reduce((sum, octet) => (sum + octet) & 0xffff, 0));
  const body = concat(signer.body, Uint8Array.of(0), material, signer.version === 6 ? new Uint8Array(0) : checksum);
  material.fill(0);
  return body;
}

/** A primary key without its secret: public body ‖ FE 09 65 00 "GNU" 01, as gpg exports secret subkeys. */
function stubBody(publicBody: Uint8Array): Uint8Array {
  return concat(publicBody, Uint8Array.of(0xfe, 0x09, 0x65, 0x00, 0x47, 0x4e, 0x55, 0x01));
}
