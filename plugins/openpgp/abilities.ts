// What a key can do in OpenPGP as it is, for the list of actions in its state.
import { findRecord } from './actions/request.ts';
import { findAlgorithm } from './format/algorithms.ts';
import type { OpenpgpKey } from './records.ts';

/** Names of the actions of this plugin. Reads the versions only of keys whose cipher OpenPGP has. */
export function openpgpActions(key: OpenpgpKey): readonly string[] {
  if (findAlgorithm(key.cipher) === undefined) return [];
  const certified = key.versions.filter((version) => findRecord(key, version) !== undefined);
  const hasSigner = certified.some((version) => version.key !== undefined);
  return [
    ...(hasSigner ? ['openpgp-sign', 'export-openpgp-revocation'] : []),
    ...(certified.length > 0 ? ['openpgp-verify', 'export-openpgp-public'] : []),
    // The User ID may come with the request.
    ...(key.exportable && !key.verificationOnly ? ['export-openpgp'] : []),
  ];
}
