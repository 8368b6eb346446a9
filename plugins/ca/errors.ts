// The errors that CAs and enrolment add to the platform's table.
import { type ErrorTable, errorsOf } from '../../core/base/errors.ts';
import { requestErrors } from '../../core/plugin/services/request-errors.ts';

export const caErrors = {
  'unsupported-key-type': {
    status: 400,
    title: 'Key type not offered',
    when: 'no configured token offers the mechanism a CA key type needs; the detail names it',
    detail: 'Choose another key type, or configure a token that offers the mechanism.',
  },
  'invalid-certificate': {
    status: 400,
    title: 'Certificate not usable',
    when: 'an uploaded certificate is malformed, expired, signed with SHA-1 or not a CA certificate, or nothing that is issued under it would be accepted',
    detail: 'Send a complete PEM certificate that is valid now; the message says what is wrong with this one.',
  },
  ...requestErrors,
  'identity-not-allowed': {
    status: 403,
    title: 'Identity not allowed',
    when: 'a name is outside the identity policy, is not that of the certificate that is renewed, or a name or usage is one that the certificate of the CA, or of one above it, does not allow',
    detail: 'Ask for names that the identity policy of the CA allows, or extend allowed-domains and its flags.',
  },
  'ca-has-no-key': {
    status: 400,
    title: 'CA without a key',
    when: 'the operation needs the private key of a trust-only CA',
    detail: 'Use a CA whose key this appliance holds: a trust-only CA verifies and does not sign.',
  },
  'ca-expired': {
    status: 409,
    title: 'CA has expired',
    when: 'a certificate is asked of a CA whose own certificate has expired; renew it',
    detail: 'Renew the CA, then try again.',
  },
  'signed-outside': {
    status: 409,
    title: 'CA is certified outside',
    when: 'renew is asked of a CA whose certificate was imported: have its csr signed again and import the result',
    detail: 'Have its csr signed again by the issuer, and import the certificate with import-cert.',
  },
} as const satisfies ErrorTable;

export const failCa = errorsOf(caErrors);
