// The errors of KMIP objects: rows that go into the manifest, the function that throws them, and their Result Reasons.
import { type ErrorTable, errorsOf, fail as coreFail, type ServiceError } from '../../core/base/errors.ts';

export const kmipErrors = {
  'kmip-client-unknown': {
    status: 401,
    title: 'Nobody has this certificate here',
    when: 'a message at the listener of KMIP, over a connection whose certificate is that of no KMIP client',
    detail: "Make a KMIP client entry for the certificate, or enable it; an expired or revoked certificate is nobody's.",
  },
  'kmip-credentials-wrong': {
    status: 401,
    title: 'Username or password missing or wrong',
    when: 'a message at the listener of KMIP of a client whose entry demands a username and password, without them or with others',
    detail: 'Set username and password in the client as in its entry, or take them out of the entry.',
  },
  'kmip-only': {
    status: 403,
    title: 'Only for KMIP clients',
    when: 'a request of /v1 for an operation that only clients of KMIP have',
    detail: 'Use a KMIP client whose certificate is that of a KMIP client entry of the space.',
  },
  'kmip-attribute-read-only': {
    status: 409,
    title: 'Attribute cannot be changed',
    when: 'the attribute is set by the appliance, is fixed from the creation of the object on, or cannot be removed',
    detail: 'Leave the attribute as it is, or make another object.',
  },
  'kmip-attribute-exists': {
    status: 409,
    title: 'Attribute exists already',
    when: 'an attribute is added that the object has, and can have once',
    detail: 'Modify the attribute instead.',
  },
  'kmip-attribute-not-found': {
    status: 404,
    title: 'No such attribute',
    when: 'an attribute is modified or deleted that the object does not have, or not at that index',
    detail: 'Read the attributes of the object, and name one that it has.',
  },
  'kmip-attribute-invalid': {
    status: 400,
    title: 'Invalid attribute',
    when: 'an attribute is missing, unknown, of the wrong type, too long, or contradicts another one',
    detail: 'Correct the attribute that the message names.',
  },
  'kmip-algorithm-unsupported': {
    status: 400,
    title: 'Algorithm or length not supported',
    when: 'a key is to be made of an algorithm or length that is not offered',
    detail: 'Create AES keys of 128, 192 or 256 bits, 3DES keys of 112 or 168 bits, or HMAC keys, or register a key made elsewhere.',
  },
  'kmip-format-unsupported': {
    status: 400,
    title: 'Key format not supported',
    when: 'an object is asked for, or registered, in a format that it cannot have',
    detail: 'Ask for the format in which the object was registered, or for Raw.',
  },
  'kmip-destroyed': {
    status: 404,
    title: 'The object is destroyed',
    when: 'the material of an object is asked for, or an attribute of it changed, after it was destroyed',
    detail: 'Its material is gone for good; what is left of it can be read, and removed by an administrator.',
  },
  'kmip-state': {
    status: 409,
    title: 'The state of the object forbids it',
    when: 'an object that is Active is to be destroyed, one that is not Pre-Active to be activated, or one that is not Active to be used',
    detail: 'Read the State of the object: revoke it before it is destroyed, activate it before it is used.',
  },
  'kmip-usage': {
    status: 409,
    title: 'The usage mask of the object forbids it',
    when: 'a key is used for what its Cryptographic Usage Mask does not name',
    detail: 'Use a key whose Cryptographic Usage Mask has the use.',
  },
  'kmip-sensitive': {
    status: 409,
    title: 'The object leaves wrapped only',
    when: 'an object with the attribute Sensitive is read in clear',
    detail: 'Ask for it wrapped under another key.',
  },
  'kmip-not-extractable': {
    status: 409,
    title: 'The object does not leave',
    when: 'an object whose attribute Extractable is false is read',
    detail: 'Use the object in the appliance, or register one that is extractable.',
  },
  'kmip-not-tied': {
    status: 409,
    title: 'The object is not tied to a transit key',
    when: 'an object whose material is sealed by its space is to encrypt, decrypt, sign, verify or authenticate',
    detail: 'Read the object with Get, or use an object that an administrator has tied to a transit key.',
  },
  'kmip-tie-refused': {
    status: 409,
    title: 'The transit key cannot be tied',
    when: 'a KMIP object is to stand for a version of a transit key that is derived, not exportable, public alone, or of a cipher that KMIP has no name for',
    detail: 'Tie a version of an exportable AES, RSA, ECDSA or Ed25519 key that is not derived.',
  },
  'kmip-search-refused': {
    status: 409,
    title: 'The search examines too many objects',
    when: 'a search by attributes that no index has would examine 250,000 objects, or 16 such searches of the space, 8 of one client, are under way',
    detail: 'Search by Name or another attribute that is indexed.',
  },
  'kmip-space-full': {
    status: 409,
    title: 'The object space is full',
    when: 'the space has as many objects as its max-objects',
    detail: 'Remove destroyed objects, or raise max-objects of the space.',
  },
} as const satisfies ErrorTable;

export const fail = errorsOf(kmipErrors);

/** A member of an answer that a policy of the client hides: without it there is nothing that could be told the client. */
export function hidden(name: string): ServiceError {
  return coreFail('policy-denied', { detail: `A policy of the client hides "${name}" of the answer ("hide-fields").` });
}

/** Result Reasons of the specification by our codes; those of the pipeline, too. */
const reasons: Readonly<Record<string, number>> = {
  'not-found': 0x01,
  'kmip-destroyed': 0x01,
  'kmip-attribute-not-found': 0x01,
  'invalid-token': 0x03,
  'kmip-client-unknown': 0x03,
  'kmip-credentials-wrong': 0x03,
  'missing-field': 0x06,
  'invalid-value': 0x07,
  'kmip-attribute-invalid': 0x07,
  'kmip-algorithm-unsupported': 0x07,
  'kmip-attribute-exists': 0x0b,
  'kmip-attribute-read-only': 0x0c,
  'kmip-state': 0x0c,
  'kmip-usage': 0x0c,
  'kmip-only': 0x0c,
  'policy-denied': 0x0c,
  'approval-needed': 0x0c,
  'export-not-allowed': 0x0c,
  'private-key-in-use': 0x0c,
  'kmip-not-tied': 0x08,
  'operation-not-supported': 0x08,
  'decryption-failed': 0x0a,
  'version-unknown': 0x01,
  'version-not-allowed': 0x0c,
  'version-exhausted': 0x0c,
  'key-disabled': 0x0c,
  'kmip-format-unsupported': 0x10,
  'kmip-sensitive': 0x16,
  'kmip-not-extractable': 0x17,
};

/** General Failure */
const otherwise = 0x100;

/** The Result Reason of a refusal. */
export function resultReasonOf(error: ServiceError): number {
  return reasons[error.code] ?? otherwise;
}
