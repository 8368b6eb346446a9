// Parts shared by the OpenPGP actions: finding the key and the version of a request, and reading its text field.
import { z } from 'zod';
import { decodeBase64InPlace, encodeUtf8, parseBase64 } from '../../../core/base/bytes.ts';
import { fail as failCore } from '../../../core/base/errors.ts';
import { telling } from '../../../core/http/response/telling.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { hasRole, type OpenpgpKey, type OpenpgpKeys, type OpenpgpRecord, type OpenpgpVersion } from '../records.ts';
import type { Hsm } from '../../../hsm/api.ts';
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
    contentEncoding: 'base64',
    maxLength: textBodyLimit,
  });
}

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

/** The OpenPGP record of a version, if it is in force: the key has an OpenPGP role at present, or was imported as a block. */
export function findRecord({ fields }: OpenpgpKey, { attached }: OpenpgpVersion): OpenpgpRecord | undefined {
  return hasRole(fields) || attached?.imported !== undefined ? attached : undefined;
}

/** Finds a record as findRecord; throws operation-not-supported. */
export function requireRecord(key: OpenpgpKey, version: OpenpgpVersion): OpenpgpRecord {
  const record = findRecord(key, version);
  if (record === undefined) throw notAnOpenpgpKey();
  return record;
}

/** The refusal of an OpenPGP action on a key without OpenPGP role. */
export function notAnOpenpgpKey(): Error {
  return fail('operation-not-supported', {
    detail: 'The key is not an OpenPGP key: set openpgp-user-id, or make a subkey with openpgp-primary and openpgp-key-usage.',
  });
}
