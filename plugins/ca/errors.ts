// The errors that CAs and enrolment add to the platform's table (api 75, 76).
import { type ErrorTable, errorsOf } from '../../core/base/errors.ts';
import { requestErrors } from '../../core/plugin/services/certificate-authority.ts';

export const caErrors = {
  'unsupported-key-type': {
    status: 400,
    title: 'Key type not offered',
    when: 'no configured token offers the mechanism a CA key type needs; the detail names it',
  },
  'invalid-certificate': {
    status: 400,
    title: 'Certificate not usable',
    when: 'an uploaded certificate is malformed, expired, signed with SHA-1 or no CA certificate',
  },
  ...requestErrors,
  'identity-not-allowed': {
    status: 403,
    title: 'Identity not allowed',
    when: 'a device asks for a name outside the identity policy, or for other names than those of the certificate it renews',
  },
  'ca-has-no-key': { status: 400, title: 'CA without a key', when: 'the operation needs the private key of a trust-only CA' },
  'ca-expired': {
    status: 409,
    title: 'CA has expired',
    when: 'a certificate is asked of a CA whose own certificate has expired; renew it',
  },
  'signed-outside': {
    status: 409,
    title: 'CA is certified outside',
    when: 'renew is asked of a CA whose certificate was imported: have its csr signed again and import the result',
  },
} as const satisfies ErrorTable;

export const failCa = errorsOf(caErrors);
