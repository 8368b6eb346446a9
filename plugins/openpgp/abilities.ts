// Abilities of a key in OpenPGP as it is, for the list of actions in its state.
import type { KeyAction } from '../../core/plugin/services/transit-keys.ts';
import { findAlgorithm } from './format/algorithms.ts';
import { findRecord, type OpenpgpKey } from './records.ts';

/** Names of the actions of this plugin. Reads the versions only of keys whose cipher OpenPGP has. */
export function openpgpActions(key: OpenpgpKey): readonly KeyAction[] {
  if (!key.signs || findAlgorithm(key.cipher) === undefined) return [];
  const certified = key.versions.filter((version) => findRecord(key, version) !== undefined);
  const hasSigner = certified.some((version) => version.key !== undefined);
  const isSalted = key.fields.openpgpPacketVersion === 6;
  const ofCertified = [
    ...(hasSigner ? ['openpgp-sign', ...(isSalted ? [] : ['openpgp-trailer', 'openpgp-sign-digest']), 'export-openpgp-revocation'] : []),
    ...(hasSigner && key.fields.openpgpUserId !== undefined ? ['unbind-subkey'] : []),
    ...(certified.length > 0 ? ['openpgp-verify', 'export-openpgp-public'] : []),
  ];
  return [
    ...ofCertified.map((name) => ({ name, tellsAbout: ['openpgp-user-id', 'openpgp-primary'] })),
    // The User ID may come with the request.
    ...(key.exportable && !key.verificationOnly ? [{ name: 'export-openpgp', tellsAbout: ['exportable'] }] : []),
  ];
}
