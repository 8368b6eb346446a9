// The TLS CA as users write and see it: fields, defaults, and how key types are written.
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { naming, type NamedEntry } from '../../core/http/named-entries.ts';
import { durationText, nameField, timestamp, pemExample, timestampText } from '../../core/wire/fields.ts';
import type { KeyType } from '../../hsm/api.ts';
import { certifyingAnything, nameLimits, nameLimitsOf } from './issuing/certifying.ts';
import { signingAnything } from './issuing/signing.ts';
import { caAlgorithms, findCaAlgorithm, requireCaAlgorithm, type WrittenKeyType } from './authority/algorithms.ts';
import type { CaPadding } from './records/records.ts';
import { enrolmentContainers } from './enrolment/document.ts';

/** Every key type as users write it; the first of each cert-key-type is its default. */
const written: readonly WrittenKeyType[] = Array.from(caAlgorithms.values(), (row) => row.written);

const unique = <T>(values: readonly (T | undefined)[]): T[] => [...new Set(values.filter((value) => value !== undefined))];

const sizes = unique(written.map(({ certKeyBits }) => certKeyBits)).toSorted((left, right) => left - right);

const resource = 'keystore/tls/ca';
const state = `/v1/state/${resource}/{}`;

/** CA that certifies. The right to sign requests is not enough: a CA below signs whatever it likes. */
const issuer: NamedEntry = {
  resource,
  needs: [
    { operation: 'execute', path: `${state}/sign-csr`, effect: signingAnything },
    { operation: 'execute', path: `${state}/certify-ca`, effect: certifyingAnything },
  ],
};

/** Writable fields. */
export const caDocument = z.object({
  certKeyType: z
    .enum(unique(written.map(({ certKeyType }) => certKeyType)))
    .meta({ typeName: 'CertKeyType' })
    .optional()
    .meta({ description: 'Key of the CA; default ecdsa.', example: 'ecdsa' }),
  certKeyCurve: z
    .enum(unique(written.map(({ certKeyCurve }) => certKeyCurve)))
    .meta({ typeName: 'CertKeyCurve' })
    .optional()
    .meta({ description: 'Curve of an ecdsa key; default secp256r1.', example: 'secp256r1' }),
  certKeyBits: z
    .literal(sizes)
    .meta({ typeName: 'CertKeyBits' })
    .optional()
    .meta({
      description: `Size of an rsa key; default ${written.find(({ certKeyType }) => certKeyType === 'rsa')?.certKeyBits}.`,
      example: 2048,
    }),
  signatureAlgorithm: z.enum(['pkcs1v15', 'pss']).meta({ typeName: 'CaSignatureAlgorithm' }).optional().meta({
    description:
      'Padding of what an rsa key signs: certificates, revocation lists, OCSP answers. `pss` is RSASSA-PSS with MGF1 of the same hash and a salt of its length; default pkcs1v15.',
    'x-default': 'pkcs1v15',
  }),
  subject: z
    .string()
    .min(1)
    .max(1_024)
    .optional()
    .meta({ description: 'Subject of the CA certificate; default CN=<name>.', example: 'CN=Device CA,O=Example' }),
  ttl: durationText({ minSeconds: 3_600 }).default('10y').meta({ description: 'Life of the CA certificate.', example: '10y' }),
  issuingCa: naming(nameField(), issuer)
    .optional()
    .meta({ description: 'CA here that signs this one; without it the CA is a root.', example: 'root-ca' }),
  ...nameLimits.shape,
  caCert: z
    .string()
    .max(65_536)
    .optional()
    .meta({
      description: 'Certificate of a CA elsewhere: this one is then only trusted, and issues nothing.',
      example: pemExample('CERTIFICATE'),
    }),
  deltaCrl: z
    .boolean()
    .default(false)
    .describe(
      'Makes delta CRLs (RFC 5280 5.2.4) beside its revocation lists: what was revoked since a list that relying parties may still have. New certificates and lists say where.',
    ),
  deletionAllowed: z.boolean().default(false).describe('Must be true before the CA can be deleted while certificates of it are valid.'),
  ...enrolmentContainers,
});

export type CaDocument = z.infer<typeof caDocument>;

const registrationFields = {
  registrationNotBefore: timestamp()
    .optional()
    .describe(
      'When the certificate of its registration authority begins, which is when it was made; absent until a device has asked for it.',
    ),
  registrationNotAfter: timestamp().optional().describe('When that certificate ends.'),
  registrationRenewalTime: timestamp()
    .optional()
    .describe(
      'From when the next request of a device has it renewed: a quarter of its life before its end. A time that has passed where it is revoked, or the CA has a new key.',
    ),
};

/** Read-only fields of the state. */
export const caStateFields = z.object({
  uuid: z.uuid().describe('Identifies the CA permanently, whatever its name.'),
  creationTime: timestampText().describe('When it was made.'),
  trustOnly: z.boolean().describe('`true` if it is only trusted, and issues nothing.'),
  caCert: z.string().meta({ description: 'Certificate of the CA.', example: pemExample('CERTIFICATE') }),
  chain: z.string().meta({ description: 'Certificates above it, up to the root.', example: pemExample('CERTIFICATE') }),
  serial: z.string().meta({ description: 'Serial number of its certificate.', example: '4f9a2c51d07b83e6' }),
  notBefore: timestamp().describe('When its certificate begins.'),
  notAfter: timestamp().describe('When its certificate ends.'),
  keyVersion: z
    .int()
    .optional()
    .describe('How often it got a key; counted on from a deleted CA of the same name whose last revocation list is kept.'),
  crlUrl: z.url().optional().meta({
    description: 'Where its revocation list is.',
    example: 'https://localhost:4646/v1/ca/f81d4fae-7dec-41d0-a765-00a0c91e6bf6/my-tls-ca/crl',
  }),
  deltaCrlUrl: z.url().optional().meta({
    description: 'Where its delta CRL is, if it has them.',
    example: 'https://localhost:4646/v1/ca/f81d4fae-7dec-41d0-a765-00a0c91e6bf6/my-tls-ca/crl/1/delta',
  }),
  ocspUrl: z.url().optional().meta({
    description: 'Where its OCSP responder is.',
    example: 'https://localhost:4646/v1/ca/f81d4fae-7dec-41d0-a765-00a0c91e6bf6/my-tls-ca/ocsp',
  }),
  crlNextUpdate: timestampText()
    .optional()
    .describe(
      'When the list that was signed last ends. A list that is asked for after a revocation, or a day after the last one, is signed again; absent until the first was asked for.',
    ),
  ocspAnswersHold: z.string().optional().meta({ description: 'How long an answer of its OCSP responder holds.', example: '1h' }),
  est: z
    .object({ httpsUrl: z.array(z.url()).describe('Base URLs for devices, by host name and by address.') })
    .describe('What devices need to know.'),
  scep: z
    .object({
      url: z.array(z.url()).describe('URLs for devices, by host name and by address.'),
      ...registrationFields,
    })
    .describe('What devices that speak SCEP need to know.'),
  acme: z
    .object({ directoryUrl: z.array(z.url()).describe('URLs of the directory, by host name and by address.') })
    .describe('What clients of ACME need to know.'),
  cmp: z
    .object({
      url: z.array(z.url()).describe('URLs for devices, by host name and by address.'),
      ...registrationFields,
    })
    .describe('What devices that speak CMP need to know.'),
});

/** The key type a document asks for; undefined when curve or bits do not belong to its cert-key-type. */
export function findKeyType(document: Pick<CaDocument, 'certKeyType' | 'certKeyCurve' | 'certKeyBits'>): KeyType | undefined {
  const { certKeyType = 'ecdsa', certKeyCurve, certKeyBits } = document;
  const row = [...caAlgorithms].find(
    ([, { written: one }]) =>
      one.certKeyType === certKeyType &&
      (certKeyCurve === undefined || certKeyCurve === one.certKeyCurve) &&
      (certKeyBits === undefined || certKeyBits === one.certKeyBits),
  );
  return row?.[0];
}

/** Padding of the signatures of a new CA; throws `invalid-value` for one that its keys do not have. */
export function paddingOf(
  { signatureAlgorithm }: Pick<CaDocument, 'signatureAlgorithm'>,
  keyType: KeyType,
): { readonly padding?: CaPadding } {
  if (signatureAlgorithm !== undefined && findCaAlgorithm(keyType, 'pss') === undefined)
    throw fail('invalid-value', {
      detail: '"signature-algorithm" belongs to cert-key-type rsa: leave it out, or give the CA a key of that type.',
    });
  return signatureAlgorithm === 'pss' ? { padding: 'pss' } : {};
}

/** The fields of the document that mean a key type. */
export function keyFields(keyType: KeyType): WrittenKeyType {
  return requireCaAlgorithm({ type: keyType }).written;
}

/** Throws `invalid-value` for fields of a key in the document of a trust-only CA. */
export function requireNoKeyFields(document: CaDocument): void {
  const { certKeyType, certKeyCurve, certKeyBits, signatureAlgorithm, subject, issuingCa } = document;
  const { nameLimits: limits } = nameLimitsOf(document);
  if ([certKeyType, certKeyCurve, certKeyBits, signatureAlgorithm, subject, issuingCa, limits].some((field) => field !== undefined)) {
    throw fail('invalid-value', {
      detail:
        'A CA with "ca-cert" is trust-only: cert-key-type, cert-key-curve, cert-key-bits, signature-algorithm, subject, issuing-ca and limits on names do not apply.',
    });
  }
}
