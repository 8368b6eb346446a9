// The invariants of the plugin: every version of an OpenPGP key has a record for its public key, and every subkey has its primary.
import type { CheckFinding } from '../../core/base/context.ts';
import { hasRole, type OpenpgpKey, type OpenpgpKeys, type OpenpgpVersion } from './records.ts';
import { formatFingerprint } from './format/packets.ts';
import { packetVersionOf, publicKeyBody } from './format/signer.ts';

/** Checks every key of every tenant. */
export function* checkRecords(transitKeys: OpenpgpKeys): Generator<CheckFinding> {
  for (const key of transitKeys.all()) {
    const { tenantId, name } = key;
    const { openpgpPrimary } = key.fields;
    if (openpgpPrimary !== undefined && transitKeys.find(tenantId, openpgpPrimary)?.fields.openpgpUserId === undefined) {
      yield { where: `${tenantId}/${name}`, problem: 'the primary key of a subkey is missing' };
    }
    for (const version of key.versions) {
      const problem = problemOf(key, version);
      if (problem !== undefined) yield { where: `${tenantId}/${name}/v${version.version}`, problem };
    }
  }
}

function problemOf(key: OpenpgpKey, { attached, publicKey, key: reference }: OpenpgpVersion): string | undefined {
  const isOpenpgpKey = hasRole(key.fields);
  if (attached === undefined)
    return isOpenpgpKey && reference !== undefined ? 'a version of an OpenPGP key has no OpenPGP record' : undefined;
  if (attached.imported !== undefined) return undefined;
  if (isOpenpgpKey && (attached.subkey !== undefined) !== (key.fields.openpgpPrimary !== undefined))
    return 'the OpenPGP record is of the other role';
  const body = publicKey === undefined ? undefined : publicKeyBody(key.cipher, publicKey, attached.created, packetVersionOf(attached));
  const fits = body !== undefined && attached.fingerprints[0] === formatFingerprint(body.fingerprint);
  return fits ? undefined : 'the OpenPGP record is of another public key';
}
