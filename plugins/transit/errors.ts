// The errors of transit keys: rows that go into the manifest, and the function that throws them.
import { type ErrorTable, errorsOf } from '../../core/base/errors.ts';

/** Rows beyond the platform's own (api 75, 76). */
export const transitErrors = {
  'invalid-format': {
    status: 400,
    title: 'Malformed value',
    when: 'the prefix of a ciphertext, signature or HMAC is not store:v<N>: or store:hashed:v<N>:',
    detail: 'Send the value exactly as the service answered it, from "store:" to its end.',
  },
  'version-unknown': {
    status: 400,
    title: 'No such key version',
    when: 'the version was never made, was trimmed, or is above the latest',
    detail: 'Use a version that the state of the key lists under keys.',
  },
  'version-not-allowed': {
    status: 409,
    title: 'Key version barred',
    when: 'the version exists, but a minimum version or an auto-rotate timer bars it from this use',
    detail:
      'Use a version within the minimum versions of the key, or lower the minimum; rewrap brings old ciphertexts to the latest version.',
  },
  'key-disabled': {
    status: 409,
    title: 'Key disabled',
    when: 'the key is disabled or waits for its deletion, or the version is among its disabled-versions; no use of it is possible',
    detail: 'Enable it again in the settings of the key, or use another key or version.',
  },
  'version-exhausted': {
    status: 409,
    title: 'Key version used up',
    when: 'the version has made 2^32 AES-GCM encryptions (rotate the key), or the key has reached version 2^31-1, the last there is',
    detail: 'Rotate the key; at the last version there is, create another key and rewrap.',
  },
  'version-trimmed': {
    status: 409,
    title: 'Version was trimmed',
    when: 'a minimum version below the oldest version left was asked for',
    detail: 'Choose a minimum version at or above the oldest version left: trimmed versions cannot come back.',
  },
  'context-required': {
    status: 400,
    title: 'Context required',
    when: 'the key is derived and the request has no context',
    detail: 'Send the context with which the data is to be, or was, encrypted.',
  },
  'context-not-allowed': {
    status: 400,
    title: 'Context not allowed',
    when: 'the request has a context, but the key is not derived',
    detail: 'Leave the context out, or use a key created with derived: true.',
  },
  'decryption-failed': {
    status: 400,
    title: 'Decryption failed',
    when: 'wrong context, wrong associated data, tampered ciphertext or wrong key; one answer for all',
    detail: 'The ciphertext was altered, or key, context or associated data are not those it was made with.',
  },
  'plaintext-not-utf8': {
    status: 400,
    title: 'Plaintext is not text',
    when: 'raw text was asked for with base64-encoded false, but the plaintext is not UTF-8',
    detail: 'Leave base64-encoded at true: the plaintext is then answered as base64.',
  },
  'operation-not-supported': {
    status: 400,
    title: 'Operation not supported by this key',
    when: 'the cipher cannot do it, or the key has no private part',
    detail: 'Use a key whose cipher and parts can do it; /v1/docs says which ciphers an action takes.',
  },
  'unsupported-cipher': {
    status: 400,
    title: 'Cipher not supported',
    when: 'the cipher is unknown, or no configured token offers the mechanism it needs',
    detail: 'Choose a cipher that the message lists, or configure a token that offers the mechanism.',
  },
  'invalid-key-data': {
    status: 400,
    title: 'Key material unusable',
    when: 'key material or a backup cannot be read, contradicts itself, or is a secret of nothing but zeros or ones',
    detail: 'Check that the key or backup is complete and unchanged, not encrypted, and in a form that the field describes.',
  },
  'key-type-mismatch': {
    status: 400,
    title: 'Key material of another type',
    when: 'the material is of another type or size than the cipher, or does not belong to the public key',
    detail: 'Use material of the cipher and size of the key; the message says what was found.',
  },
  'export-not-allowed': {
    status: 409,
    title: 'Export not allowed',
    when: 'exportable is false',
    detail: 'Set exportable to true, which cannot be set back, or have the work done by the service.',
  },
  'backup-not-allowed': {
    status: 409,
    title: 'Backup not allowed',
    when: 'allow-plaintext-backup is false',
    detail: 'Set allow-plaintext-backup to true, which cannot be set back, or back up the whole appliance.',
  },
  'restore-would-destroy': {
    status: 409,
    title: 'Restore would destroy a key in use',
    when: 'the target has been used or rotated and deletion-allowed is false, or is used while an import replaces its only version',
    detail: 'Restore under a name that is free, or set deletion-allowed on the key that the restore is to replace.',
  },
} as const satisfies ErrorTable;

/** Throws a row of the table above. */
export const fail = errorsOf(transitErrors);
