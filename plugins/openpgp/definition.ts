// Rules about the openpgp-* fields: the combinations of them, and the keys they fit.
import { encodeUtf8 } from '../../core/base/bytes.ts';
import { fail as failCore } from '../../core/base/errors.ts';
import { tellingEach } from '../../core/http/response/telling.ts';
import { hasRole, type OpenpgpDefinition, type OpenpgpFields, type OpenpgpKey, type OpenpgpKeys, type OpenpgpVersion } from './records.ts';
import type { WriteTransaction } from '../../core/store/store.ts';
import { findAlgorithm } from './format/algorithms.ts';
import { fail } from './errors.ts';
import { failAt } from '../../core/base/texts/invalid.ts';

const maxUserIdOctets = 1024;

/**
 * The User ID for a certificate. Those in requests have been validated (records.ts); records and backups of earlier versions may have
 * blanks at the ends. Throws `invalid-value`.
 */
export function requireUserId(text: string): string {
  const userId = text.trim();
  // eslint-disable-next-line no-control-regex -- looks for control characters
  const fit = userId.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(userId);
  const octets = encodeUtf8(userId).length;
  if (fit && octets >= 1 && octets <= maxUserIdOctets) return userId;
  throw failAt(
    'openpgp-user-id',
    `openpgp-user-id must be 1 to ${maxUserIdOctets} octets of text without control characters, such as "Name <mail>".`,
  );
}

/** Throws `invalid-value`, `missing-field`, `operation-not-supported`, `in-use`; see KeyAttachment.requireDefinition. */
export function requireDefinition(definition: OpenpgpDefinition, current: OpenpgpKey | undefined, transitKeys: OpenpgpKeys): void {
  const { openpgpUserId, openpgpPrimary, openpgpKeyUsage } = definition.fields;
  if (openpgpUserId !== undefined && openpgpPrimary !== undefined) {
    throw failAt('openpgp-primary', 'A key is a primary key (openpgp-user-id) or a subkey (openpgp-primary), not both.');
  }
  const isOpenpgpKey = hasRole(definition.fields);
  requireUsage(openpgpKeyUsage, isOpenpgpKey);
  requireUserIds(definition.fields);
  if (definition.fields.openpgpExpiresAfter !== undefined && !isOpenpgpKey)
    throw failAt('openpgp-expires-after', 'openpgp-expires-after goes with openpgp-user-id or openpgp-primary.');
  if (definition.fields.openpgpPublished === true && openpgpUserId === undefined)
    throw failAt('openpgp-published', 'openpgp-published goes with openpgp-user-id: a primary key is published with its subkeys.');
  // Last: a request that is refused all the same would tell, without harm to the key, that it has subkeys.
  if (current?.fields.openpgpUserId !== undefined && openpgpUserId === undefined) requireNoLiveSubkeys(current, transitKeys);
  if (!isOpenpgpKey) return;
  requireOpenpgpKey(definition);
  if (openpgpUserId !== undefined) requireUserId(openpgpUserId);
  if (openpgpPrimary === undefined) return;
  if (!openpgpKeyUsage.includes('sign')) {
    throw failCore('missing-field', {
      detail: 'A subkey needs openpgp-key-usage: ["sign"].',
      items: [{ message: 'required with openpgp-primary', info: 'openpgp-key-usage' }],
    });
  }
  requirePrimary(definition, transitKeys);
}

/** The primary key a subkey's definition names. Throws `invalid-value` when it is missing or cannot bind subkeys. */
export function requirePrimary(definition: OpenpgpDefinition, transitKeys: OpenpgpKeys): OpenpgpKey {
  const name = definition.fields.openpgpPrimary;
  const primary = name === undefined || name === definition.name ? undefined : transitKeys.find(definition.tenantId, name);
  if (primary === undefined) throw failAt('openpgp-primary', 'openpgp-primary must name another transit key of this tenant.');
  if (primary.fields.openpgpUserId === undefined || primary.verificationOnly) {
    throw failAt('openpgp-primary', 'openpgp-primary must name a primary key: one with openpgp-user-id and a private key.');
  }
  if ((primary.fields.openpgpPacketVersion ?? 4) !== (definition.fields.openpgpPacketVersion ?? 4))
    throw failAt('openpgp-packet-version', 'A subkey has the openpgp-packet-version of its primary key.');
  return primary;
}

/** Throws `invalid-value`. */
function requireUserIds({ openpgpUserId, openpgpUserIds = [], openpgpRevokedUserIds = [] }: OpenpgpFields): void {
  for (const [field, texts] of [
    ['openpgp-user-ids', openpgpUserIds],
    ['openpgp-revoked-user-ids', openpgpRevokedUserIds],
  ] as const) {
    if (texts.length > 0 && openpgpUserId === undefined) throw failAt(field, `${field} goes with openpgp-user-id.`);
    const others = field === 'openpgp-user-ids' ? [openpgpUserId] : [openpgpUserId, ...openpgpUserIds];
    const twice = texts.find((text, at) => others.includes(text) || texts.indexOf(text) !== at);
    if (twice === undefined) continue;
    // PATCH unites lists, so a User ID is not moved by naming it in the other one.
    const isMove = field === 'openpgp-revoked-user-ids' && others.includes(twice);
    const mend = isMove ? ' To revoke it, take it out of the other field in the same change: PUT, or PATCH with lists=replace.' : '';
    throw failAt(field, `"${twice}" is named twice: a User ID is in one of the three fields, once.${mend}`);
  }
}

/** Throws `in-use` while some key names this one as its primary. */
export function requireNoLiveSubkeys(
  primary: OpenpgpKey,
  transitKeys: OpenpgpKeys,
  transaction?: Parameters<OpenpgpKeys['referringTo']>[2],
): void {
  if (primary.fields.openpgpUserId === undefined) return;
  const subkeys = Array.from(Iterator.from(transitKeys.referringTo(primary.tenantId, primary.name, transaction)).take(maxNamed + 1));
  if (subkeys.length === 0) return;
  const said = (these: string): string =>
    `Keys that name this one as "openpgp-primary" are its subkeys${these}. Delete them first, or unbind them.`;
  // The names are only for those who may read them.
  const entries = subkeys.map(({ name }) => ({
    detail: name,
    fields: ['openpgp-primary'],
    paths: ['config', 'state'].map((tree) => ['v1', tree, 'keystore', 'transit-keys', name]),
  }));
  throw tellingEach(failCore('in-use', { detail: said('') }), entries, (names) => {
    const shown = names.slice(0, maxNamed);
    return said(`: ${shown.join(', ')}${shown.length === subkeys.length ? '' : ' and more'}`);
  });
}

/** Throws `in-use` when a version that goes has bound live versions of subkeys: they could not be revoked without it. Names those that the caller may know. */
export function requireUnbound(
  primary: OpenpgpKey,
  { going, restored }: { readonly going: readonly OpenpgpVersion[]; readonly restored: readonly OpenpgpVersion[] },
  transitKeys: OpenpgpKeys,
  transaction: WriteTransaction,
  shows: (name: string, field: string) => boolean,
): void {
  if (primary.fields.openpgpUserId === undefined) return;
  const staying = new Set(restored.flatMap(({ key, attached }) => (key === undefined ? [] : (attached?.fingerprints ?? []))));
  const fingerprints = new Set(going.flatMap(({ attached }) => attached?.fingerprints ?? []).filter((one) => !staying.has(one)));
  const bound = Array.from(transitKeys.referringTo(primary.tenantId, primary.name, transaction), ({ name, versions }) => ({
    name,
    numbers: versions.filter(({ attached }) => fingerprints.has(attached?.subkey?.primaryFingerprint ?? '')).map(({ version }) => version),
  })).filter(({ numbers }) => numbers.length > 0);
  if (bound.length === 0) return;
  const known = bound.filter(({ name }) => shows(name, 'openpgp-primary'));
  const shown = known
    .slice(0, maxNamed)
    .map(({ name, numbers }) =>
      shows(name, 'versions') ? `${name} (${numbers.length === 1 ? 'version' : 'versions'} ${shortList(numbers)})` : name,
    );
  const isWhole = shown.length === bound.length;
  const these = shown.length === 0 ? 'subkeys' : `these subkeys: ${shown.join(', ')}${isWhole ? '' : ' and more'}`;
  throw failCore('in-use', {
    detail:
      `Versions of this primary key that would go have bound ${these}. Nobody could revoke them ` +
      'afterwards. Rotate each and trim it to its new version, or delete it; then do this again.',
  });
}

const maxNamed = 10;

function shortList(numbers: readonly number[]): string {
  return numbers.length > 3 ? `${numbers[0]} to ${numbers.at(-1)}` : numbers.join(', ');
}

function requireUsage(usage: readonly string[], isOpenpgpKey: boolean): void {
  if (usage.length > 0 && !isOpenpgpKey) {
    throw failAt('openpgp-key-usage', 'openpgp-key-usage goes with openpgp-primary.');
  }
  if (usage.some((one) => one !== 'sign')) throw failAt('openpgp-key-usage', 'openpgp-key-usage can only hold "sign".');
}

function requireOpenpgpKey({ cipher, signs, verificationOnly }: OpenpgpDefinition): void {
  if (findAlgorithm(cipher) === undefined) {
    throw fail('operation-not-supported', {
      detail: 'The cipher of this key does not exist in OpenPGP. RSA, Ed25519 and ECDSA keys can be OpenPGP keys.',
    });
  }
  if (!signs) throw fail('operation-not-supported', { detail: 'A key for encryption signs nothing, and an OpenPGP key certifies itself.' });
  if (verificationOnly) {
    throw fail('operation-not-supported', { detail: 'A verification-only key has no private key to certify a User ID or a binding with.' });
  }
}
