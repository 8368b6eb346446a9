// The plugin's invariants: every version of an OpenPGP key has a record of that very key, and every subkey has its primary.
import type { CheckFinding } from '../../core/base/context.ts';
import type { TransitKey, TransitKeys, TransitKeyVersion } from '../../core/plugin/services/transit-keys.ts';
import { formatFingerprint } from './format/packets.ts';
import { publicKeyBody } from './format/signer.ts';

/** Walks every key of every tenant. */
export function* checkRecords(transitKeys: TransitKeys): Generator<CheckFinding> {
  for (const key of transitKeys.all()) {
    const { tenantId, name, openpgpPrimary } = key;
    if (openpgpPrimary !== undefined && transitKeys.find(tenantId, openpgpPrimary)?.openpgpUserId === undefined) {
      yield { where: `${tenantId}/${name}`, problem: 'the primary key of a subkey is missing' };
    }
    for (const version of key.versions) {
      const problem = problemOf(key, version);
      if (problem !== undefined) yield { where: `${tenantId}/${name}/v${version.version}`, problem };
    }
  }
}

function problemOf(key: TransitKey, { openpgp, publicKey, key: reference }: TransitKeyVersion): string | undefined {
  const hasRole = key.openpgpUserId !== undefined || key.openpgpPrimary !== undefined;
  if (openpgp === undefined) return hasRole && reference !== undefined ? 'a version of an OpenPGP key has no OpenPGP record' : undefined;
  if (openpgp.imported !== undefined) return undefined;
  if (hasRole && (openpgp.subkey !== undefined) !== (key.openpgpPrimary !== undefined)) return 'the OpenPGP record is of the other role';
  const body = publicKey === undefined ? undefined : publicKeyBody(key.cipher, publicKey, openpgp.created);
  const fits = body !== undefined && openpgp.fingerprints[0] === formatFingerprint(body.fingerprint);
  return fits ? undefined : 'the OpenPGP record is of another public key';
}
