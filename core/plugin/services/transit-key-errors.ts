// Refusals of transit keys, which every plugin that uses such keys meets. The transit plugin has them in its manifest.
import type { ErrorTable } from '../../base/errors.ts';

/** Rows of uses through the service. */
export const transitKeyErrors = {
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
  'operation-not-supported': {
    status: 400,
    title: 'Operation not supported by this key',
    when: 'the cipher cannot do it, or the key has no private part',
    detail: 'Use a key whose cipher and parts can do it; /v1/docs says which ciphers an action takes.',
  },
  'invalid-key-data': {
    status: 400,
    title: 'Key material unusable',
    when: 'key material or a backup cannot be read, contradicts itself, or is a secret of nothing but zeros or ones',
    detail: 'Check that the key or backup is complete and unchanged, not encrypted, and in a form that the field describes.',
  },
} as const satisfies ErrorTable;
