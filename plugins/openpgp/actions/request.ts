// Parts shared by the OpenPGP actions: finding the key and the version of a request, and reading its text field.
import { z } from 'zod';
import { decodeBase64InPlace, encodeUtf8, parseBase64 } from '../../../core/base/bytes.ts';
import { fail as failCore } from '../../../core/base/errors.ts';
import { failAt } from '../../../core/base/texts/invalid.ts';
import { telling } from '../../../core/http/response/telling.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { expiryOf, findRecord, type OpenpgpKey, type OpenpgpKeys, type OpenpgpRecord, type OpenpgpVersion } from '../records.ts';
import type { HashName, Hsm } from '../../../hsm/api.ts';
import type { PublicKeyBody } from '../format/signer.ts';
import { fail } from '../errors.ts';

/** Services that every action uses. */
export type Parts = { readonly hsm: Hsm; readonly transitKeys: OpenpgpKeys };

// Octets of data one call may sign or verify.
const maxTextBytes = 32 * 1024 * 1024;

/** Base64 of that much data, and the fields around it. */
export const textBodyLimit = Math.ceil(maxTextBytes / 3) * 4 + 256 * 1024;

/** The data of a request. */
export function textField(description: string) {
  return z.string().meta({
    description: `${description}: base64, or raw UTF-8 with base64-encoded false.`,
    'x-payload': true,
    maxLength: textBodyLimit,
  });
}

/** Hash of a signature. */
export const hashField = z.enum(['sha256', 'sha384', 'sha512']).optional().meta({
  typeName: 'OpenpgpHash',
  description: 'Hash of the signature; default: SHA-512, with ECDSA the one of the length of the curve, and none that is shorter.',
});

/** The hash of a request, or the default of the key. Throws invalid-value for one that verifiers refuse with the key. */
export function requireHash({ algorithm: { hashes } }: PublicKeyBody, wanted: HashName | undefined): HashName {
  if (wanted === undefined) return hashes[0];
  if (hashes.includes(wanted)) return wanted;
  throw failAt('hash-algorithm', `This key signs with ${hashes.join(', ')}: a hash that is shorter than its curve is refused by gpg.`);
}

/** Throws version-not-allowed for a key that has expired at the date of the signature, which would be bad everywhere. */
export function requireAlive(record: OpenpgpRecord, signedAt: number): void {
  const expires = expiryOf(record);
  if (expires === undefined || signedAt < expires) return;
  throw fail('version-not-allowed', {
    detail: 'The OpenPGP key, or its primary key, has expired at that time. Extend it with a longer openpgp-expires-after, or rotate it.',
  });
}

/** Encoding of a signature. */
export const signatureFormat = z.enum(['armored', 'binary']).meta({ typeName: 'OpenpgpFormat' });

/** `…/transit-keys/{name}/<action>` */
export function actionPath(action: string): string {
  return `/v1/state/keystore/transit-keys/{name}/${action}`;
}

/** The key of the path, in the caller's tenant. Throws not-found. */
export function requireKey(transitKeys: OpenpgpKeys, call: EndpointCall): OpenpgpKey {
  const key = transitKeys.find(call.caller.tenantId, call.params['name'] ?? '');
  if (key === undefined) throw failCore('not-found', { detail: 'There is no transit key of that name.' });
  return key;
}

/** The octets of a `text` field; no newline is changed. Throws `invalid-base64`, `invalid-value`, `payload-too-large`. */
export async function textOctets({ largeText }: EndpointCall, text: string, base64Encoded: boolean): Promise<Uint8Array> {
  const octets =
    largeText === undefined ? smallOctets(text, base64Encoded) : base64Encoded ? await decodeBase64InPlace(largeText) : largeText;
  if (octets === undefined) throw failCore('invalid-base64', { detail: 'text must be standard base64 with padding, without white space.' });
  if (octets.length <= maxTextBytes) return octets;
  throw failCore('payload-too-large', { detail: `text may stand for at most ${maxTextBytes / 1024 / 1024} MiB.` });
}

function smallOctets(text: string, base64Encoded: boolean): Uint8Array {
  if (!base64Encoded && !text.isWellFormed()) {
    throw failCore('invalid-value', { detail: 'text has a lone surrogate and cannot be written as UTF-8. Send it in base64.' });
  }
  return base64Encoded ? parseBase64(text, 'text') : encodeUtf8(text);
}

/** The requested version, even when it is barred: public blocks and revocations stay available. Throws version-unknown. */
export function requireVersion(key: OpenpgpKey, requested: number | 'latest'): OpenpgpVersion {
  const number = requested === 'latest' ? key.latestVersion : requested;
  const version = key.versions.find((one) => one.version === number);
  if (version !== undefined) return version;
  throw telling(fail('version-unknown', { detail: `The key has no version ${number}.` }), {
    detail: `The key has no version ${number}; its latest is ${key.latestVersion}.`,
    fields: ['latest-version'],
    paths: ['config', 'state'].map((tree) => ['v1', tree, 'keystore', 'transit-keys', key.name]),
  });
}

/** Finds a record as findRecord; throws operation-not-supported. */
export function requireRecord(key: OpenpgpKey, version: OpenpgpVersion): OpenpgpRecord {
  const record = findRecord(key, version);
  if (record === undefined) throw notAnOpenpgpKey();
  return record;
}

/**
 * Throws policy-denied for a key whose signatures have another meaning as well, unless the caller may `sign` with it: over chosen data an OpenPGP
 * signature is also one of CMS, of a certificate or of a token.
 */
export function requireSignAsWell({ access }: EndpointCall, { name, isPublished }: OpenpgpKey, { isCertified }: OpenpgpVersion): void {
  if (!isPublished && !isCertified) return;
  if (access.allowsAt(['v1', 'state', 'keystore', 'transit-keys', name, 'sign'], 'execute')) return;
  throw failCore('policy-denied', {
    detail:
      'The key has certificates or is in the JWKS, so what it signs may be read as CMS, a certificate or a token: the policies of tenant and token must ' +
      'also allow "execute" on the path of sign. Give OpenPGP a key of its own.',
  });
}

/** The refusal of an OpenPGP action on a key without OpenPGP role. */
export function notAnOpenpgpKey(): Error {
  return fail('operation-not-supported', {
    detail: 'The key is not an OpenPGP key: set openpgp-user-id, or make a subkey with openpgp-primary and openpgp-key-usage.',
  });
}
