// The errors of ACME (RFC 8555 section 6.7): status and type for the client, code for the audit trail.
import { type ErrorDetails, type ErrorTable, ServiceError } from '../../core/base/errors.ts';

/** Rows whose code is `acme-` and the type of RFC 8555 in lower case with hyphens. */
export const acmeErrors = {
  'acme-account-does-not-exist': {
    status: 400,
    title: 'No such account',
    when: 'ACME: the request names an account that does not exist here',
    detail: 'Make an account at newAccount, and sign with its URL as kid.',
  },
  'acme-already-replaced': {
    status: 409,
    title: 'Replaced already',
    when: 'ACME: an order replaces a certificate that another order has replaced',
    detail: 'Send the order without "replaces".',
  },
  'acme-already-revoked': {
    status: 400,
    title: 'Revoked already',
    when: 'ACME: the certificate is revoked already',
    detail: 'Nothing is left to do.',
  },
  'acme-bad-csr': {
    status: 400,
    title: 'Certification request not usable',
    when: 'ACME: the request of finalize is malformed, or not for the names of the order',
    detail: 'Send a PKCS#10 request with exactly the names of the order, and a key of its own.',
  },
  'acme-bad-nonce': {
    status: 400,
    title: 'Nonce not accepted',
    when: 'ACME: the nonce is absent, not of this service, older than an hour, or used already',
    detail: 'Sign again with the nonce of this answer.',
  },
  'acme-bad-public-key': {
    status: 400,
    title: 'Key not accepted',
    when: 'ACME: the key of an account is weak, malformed or of an unknown type',
    detail: 'Use an RSA key of 2048 to 8192 bits, a key on P-256, P-384 or P-521, or Ed25519.',
  },
  'acme-bad-revocation-reason': {
    status: 400,
    title: 'Reason not accepted',
    when: 'ACME: a certificate is revoked for a reason that servers do not give',
    detail: 'Use 0, 1, 3, 4, 5 or 9, or none.',
  },
  'acme-bad-signature-algorithm': {
    status: 400,
    title: 'Algorithm not accepted',
    when: 'ACME: the message is signed with an algorithm that is not taken, or not that of its key',
    detail: 'Sign with one of the algorithms that the answer lists, and that fits the key.',
  },
  'acme-external-account-required': {
    status: 403,
    title: 'A key of an administrator is needed',
    when: 'ACME: the CA makes accounts only with a key of make-eab-key',
    detail: 'Ask the administrator for a key, and give it to the client with its id.',
  },
  'acme-invalid-contact': {
    status: 400,
    title: 'Contact not usable',
    when: 'ACME: a contact is not a mail address',
    detail: 'Send contacts as mailto:name@example.com, or none.',
  },
  'acme-invalid-profile': {
    status: 400,
    title: 'No such profile',
    when: 'ACME: an order names a profile that the directory does not list',
    detail: 'Send a profile that the directory lists, or none.',
  },
  'acme-malformed': {
    status: 400,
    title: 'Malformed message',
    when: 'ACME: the message breaks a rule of RFC 8555 or RFC 7515; the message says which',
    detail: 'Correct the message as described.',
  },
  'acme-media-type': {
    status: 415,
    title: 'Another Content-Type is needed',
    when: 'ACME: a POST is not application/jose+json',
    detail: 'Send the message as application/jose+json.',
  },
  'acme-key-in-use': {
    status: 409,
    title: 'Key in use',
    when: 'ACME: a key change asks for the key of an account that exists',
    detail: 'Make another key.',
  },
  'acme-order-not-ready': {
    status: 403,
    title: 'Order not ready',
    when: 'ACME: an order is finalized before its names are proved, or when it has ended',
    detail: 'Complete the authorizations of the order first, or make another order.',
  },
  'acme-rejected-identifier': {
    status: 400,
    title: 'Name not permitted',
    when: 'ACME: a name is not within the identity policy of the CA, or not within the names of the account',
    detail: 'Ask for names that the CA permits, or have the administrator permit them.',
  },
  'acme-unauthorized': {
    status: 403,
    title: 'Not authorized',
    when: 'ACME: the account or key may not do this',
    detail: 'Sign with the account or key that may.',
  },
  'acme-unsupported-contact': {
    status: 400,
    title: 'Contact of another kind',
    when: 'ACME: a contact is not a mailto URL',
    detail: 'Send contacts as mailto:name@example.com, or none.',
  },
  'acme-unsupported-identifier': {
    status: 400,
    title: 'Identifier of another type',
    when: 'ACME: an identifier is neither dns nor ip',
    detail: 'Send identifiers of type dns or ip.',
  },
} as const satisfies ErrorTable;

export type AcmeCode = keyof typeof acmeErrors;

/** A refusal with what else its answer has. */
export class AcmeError extends ServiceError {
  readonly more: More;

  constructor(code: AcmeCode, details: ErrorDetails, more: More) {
    super(code, acmeErrors[code], details);
    this.more = more;
  }
}

type More = { readonly headers?: Readonly<Record<string, string>>; readonly members?: Readonly<Record<string, unknown>> };

/** Makes a refusal. `detail`: a sentence for people, without anything secret. */
export function failAcme(code: AcmeCode, detail?: string, more: More = {}): AcmeError {
  return new AcmeError(code, detail === undefined ? {} : { detail }, more);
}

const prefix = 'urn:ietf:params:acme:error:';

/** Codes of the service that have a type of ACME; all others below 500 are `malformed`, from 500 up `serverInternal`. */
const types: Readonly<Record<string, string>> = {
  'acme-bad-csr': 'badCSR',
  'invalid-csr': 'badCSR',
  'identity-not-allowed': 'rejectedIdentifier',
  'rate-limited': 'rateLimited',
  'quota-exceeded': 'rateLimited',
  'acme-media-type': 'malformed',
  'acme-key-in-use': 'malformed',
};

/** The type of RFC 8555 section 6.7 for an error. */
export function typeOf({ code, status }: ServiceError): string {
  const known = types[code];
  if (known !== undefined) return prefix + known;
  if (code.startsWith('acme-')) return prefix + code.slice('acme-'.length).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return prefix + (status >= 500 ? 'serverInternal' : 'malformed');
}

/** A problem in a document of an order or challenge. `type`: without the prefix of RFC 8555, as `dns`. */
export type Problem = { readonly type: string; readonly detail: string };

export function formatStored({ type, detail }: Problem): Readonly<Record<string, string>> {
  return { type: prefix + type, detail };
}

/** The problem of a refusal, to be kept with an order. */
export function problemOf(error: ServiceError): Problem {
  return { type: typeOf(error).slice(prefix.length), detail: error.details.detail ?? error.advice };
}
