// The errors of transit keys: rows that go into the manifest, and the function that throws them.
import { type ErrorTable, errorsOf } from '../../core/base/errors.ts';
import { transitKeyErrors } from '../../core/plugin/services/transit-key-errors.ts';

/** Rows beyond the platform's own. */
export const transitErrors = {
  ...transitKeyErrors,
  'version-exhausted': {
    status: 409,
    title: 'Key version used up',
    when: 'the version has made 2^32 AES-GCM encryptions (rotate the key), or the key has reached version 2^31-1, the last there is',
    detail: 'Rotate the key; at the last version there is, create another key and rewrap.',
  },
  'private-key-in-use': {
    status: 409,
    title: 'Private key has another use',
    when: 'a key of the tenant has the private key for another use, such as signatures where this is for decryption (NIST SP 800-57 part 1, 5.2)',
    detail: 'Make a new key for this use, or delete the other one; allow-dual-use in the section transit of the configuration allows both.',
  },
  'version-trimmed': {
    status: 409,
    title: 'Version was trimmed',
    when: 'a minimum version below the oldest version left was asked for',
    detail: 'Choose a minimum version at or above the oldest version left: trimmed versions cannot come back.',
  },
  'certificate-chain-missing': {
    status: 409,
    title: 'Version without certificates',
    when: 'a CMS signature was asked for, and the version has no certificates to name its signer by',
    detail: 'Let a CA issue a certificate for generate-csr of this version, and keep it with set-certificate-chain.',
  },
  'publish-limit': {
    status: 409,
    title: 'Too many published keys',
    when: 'the tenant has 100 keys with publish, which its JWKS holds, or 100 with openpgp-published',
    detail: 'Set publish, or openpgp-published, of keys that nobody verifies with any longer to false.',
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
  'unsupported-cipher': {
    status: 400,
    title: 'Cipher not supported',
    when: 'the cipher is unknown, or no configured token offers the mechanism it needs',
    detail: 'Choose a cipher that the message lists, or configure a token that offers the mechanism.',
  },
  'key-type-mismatch': {
    status: 400,
    title: 'Key material of another type',
    when: 'the material is of another type or size than the cipher, or does not belong to the public key',
    detail: 'Use material of the cipher and size of the key; the message says what was found.',
  },
  'invalid-certificate-chain': {
    status: 400,
    title: 'Certificates unusable',
    when: 'a certificate of the chain cannot be read, the first is not for the key of the version, or one was not issued by the next',
    detail: 'Give the certificate of the key first, then that of its CA, and so on, each in PEM.',
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

/** Key material that is refused. */
export const unusable = (detail: string): Error => fail('invalid-key-data', { detail });
