// The TLS CA as users write and see it: fields, defaults, and how key types are written.
import { z } from 'zod';
import { naming, type NamedEntry } from '../../core/http/named-entries.ts';
import { durationText, nameField, timestamp, pemExample, timestampText } from '../../core/wire/fields.ts';
import type { KeyType } from '../../hsm/api.ts';
import { certifyingAnything } from './issuing/certifying.ts';
import { signingAnything } from './issuing/signing.ts';
import { caAlgorithms, requireCaAlgorithm, type WrittenKeyType } from './authority/algorithms.ts';
import { isUriPattern, normaliseDomain } from './issuing/identity-policy.ts';
import { challengeTypes, disabledAcme, disabledScep, oldAlgorithms, type ScepSettings } from './records/enrolments.ts';
import { disabledEnrolment, type EstSettings } from './records/records.ts';

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
/** Name of a CA whose certificate is trusted. */
const trusted: NamedEntry = { resource, needs: [{ operation: 'read', path: state }] };

const domain = z.string().refine((text) => normaliseDomain(text) !== undefined, 'must be a domain such as example.com, without wildcard');

const est = z.object({
  enabled: z.boolean().default(disabledEnrolment.enabled).describe('Whether devices may enrol here; otherwise EST answers 404.'),
  initialEnrollSecret: z.string().max(1_024).optional().meta({
    description: 'Shared secret of first enrolment, the password of HTTP Basic: 6 octets or more in UTF-8, no control characters.',
    example: 'correct horse battery staple',
  }),
  initialEnrollTrustCa: naming(nameField(), trusted)
    .optional()
    .meta({ description: 'CA whose certificates devices may show for first enrolment.', example: 'birth-ca' }),
  allowedDomains: z
    .array(domain)
    .max(1_000)
    .meta({ whenEmpty: [] })
    .default([])
    .describe('Domains that certificates may name; none: nothing is allowed.'),
  allowSubdomains: z.boolean().default(disabledEnrolment.allowSubdomains).describe('Whether names below the domains are allowed.'),
  allowBareDomains: z.boolean().default(disabledEnrolment.allowBareDomains).describe('Whether the domains themselves are allowed.'),
  allowIpSans: z.boolean().default(disabledEnrolment.allowIpSans).describe('Whether certificates may name IP addresses.'),
  allowedUris: z
    .array(
      z
        .string()
        .max(1_024)
        .refine(isUriPattern, 'must be a URI in ASCII with a host, such as spiffe://example.com/web, or one with /* at its end'),
    )
    .max(1_000)
    .meta({ whenEmpty: [] })
    .optional()
    .describe('URIs that certificates may name, each in full; with `/*` at its end all that are below; none: no URI is allowed.'),
  ttl: durationText({ minSeconds: 60 })
    .default(disabledEnrolment.ttl)
    .meta({ description: "Life of issued certificates, never past the CA's own.", example: '30d' }),
  allowReenrollWithIssuedCert: z
    .boolean()
    .default(disabledEnrolment.allowReenrollWithIssuedCert)
    .describe('Whether a device may renew with the certificate it has.'),
});

const scep = z.object({
  enabled: z
    .boolean()
    .default(disabledScep.enabled)
    .describe('Whether devices may enrol here by SCEP, with the names and lives of `est`; otherwise SCEP answers 404.'),
  initialEnrollSecret: z.string().max(1_024).optional().meta({
    description:
      'Shared secret of first enrolment, the challengePassword of all devices: 6 octets or more in UTF-8, no control characters. Better: a secret for each device.',
    example: 'correct horse battery staple',
  }),
  allowReenrollWithIssuedCert: z
    .boolean()
    .default(disabledScep.allowReenrollWithIssuedCert)
    .describe('Whether a device may renew with the certificate it has.'),
  approvalRequired: z
    .boolean()
    .default(disabledScep.approvalRequired)
    .describe('Whether first enrolments wait for a person; without a shared secret also those that send none.'),
  allowOld: z
    .array(z.enum(oldAlgorithms).meta({ typeName: 'OldAlgorithm' }))
    .max(oldAlgorithms.length)
    .meta({ whenEmpty: [] })
    .default([])
    .describe('Weak algorithms that messages of devices may use all the same.'),
});

const acme = z.object({
  enabled: z
    .boolean()
    .default(disabledAcme.enabled)
    .describe('Whether servers may enrol here by ACME, with the names and lives of `est`; otherwise ACME answers 404.'),
  externalAccountRequired: z
    .boolean()
    .default(disabledAcme.externalAccountRequired)
    .describe('Whether accounts are made only with a key of make-eab-key; otherwise anybody who reaches the listener makes one.'),
  challenges: z
    .array(z.enum(challengeTypes).meta({ typeName: 'AcmeChallenge' }))
    .max(challengeTypes.length)
    .meta({ whenEmpty: [] })
    .default([...challengeTypes])
    .describe('Ways in which an account may prove that it controls a name; none: only names of its key are issued.'),
});

/** Writable fields (spec, CA resource; api 62, 63). */
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
  caCert: z
    .string()
    .max(65_536)
    .optional()
    .meta({
      description: 'Certificate of a CA elsewhere: this one is then only trusted, and issues nothing.',
      example: pemExample('CERTIFICATE'),
    }),
  deletionAllowed: z.boolean().default(false).describe('Must be true before the CA can be deleted while certificates of it are valid.'),
  est: est.prefault({}).describe('Enrolment of devices.'),
  scep: scep.prefault({}).describe('Enrolment of devices by SCEP.'),
  acme: acme.prefault({}).describe('Enrolment of servers by ACME.'),
});

export type CaDocument = z.infer<typeof caDocument>;

/** Read-only fields of the state. */
export const caStateFields = z.object({
  uuid: z.uuid().describe('Identifies the CA permanently, whatever its name.'),
  creationTime: timestampText().describe('When it was made.'),
  trustOnly: z.boolean().describe('Whether it is only trusted.'),
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
  ocspUrl: z.url().optional().meta({
    description: 'Where its OCSP responder is.',
    example: 'https://localhost:4646/v1/ca/f81d4fae-7dec-41d0-a765-00a0c91e6bf6/my-tls-ca/ocsp',
  }),
  est: z
    .object({ httpsUrl: z.array(z.url()).describe('Base URLs for devices, by host name and by address.') })
    .describe('What devices need to know.'),
  scep: z
    .object({
      url: z.array(z.url()).describe('URLs for devices, by host name and by address.'),
      registrationNotAfter: timestamp()
        .optional()
        .describe(
          'When the certificate of its registration authority ends, which is renewed half a year before; absent until a device has asked for it.',
        ),
    })
    .describe('What devices that speak SCEP need to know.'),
  acme: z
    .object({ directoryUrl: z.array(z.url()).describe('URLs of the directory, by host name and by address.') })
    .describe('What clients of ACME need to know.'),
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

/** The fields of the document that mean a key type. */
export function keyFields(keyType: KeyType): WrittenKeyType {
  return requireCaAlgorithm(keyType).written;
}

/** Octets in UTF-8: the least that NIST SP 800-63B (revision 3, section 5.1.1.1) allows for secrets that are drawn at random. */
const minSecretOctets = 6;

/**
 * Returns the reason for which a shared secret is unusable for devices or too weak; undefined if it is acceptable. Not part of the schema:
 * secrets from before the rule stay valid.
 */
export function findSecretProblem(secret: string): string | undefined {
  // RFC 7617 section 2: a password in HTTP Basic has no control characters.
  if (/[\p{Cc}\p{Cs}]/u.test(secret)) return 'has a control character, which no client can send in HTTP Basic';
  if (Buffer.byteLength(secret) < minSecretOctets) return `is too short: give it at least ${minSecretOctets} octets in UTF-8`;
  return undefined;
}

/** An empty secret counts as absent (R32). */
export function enrolmentSettings(document: CaDocument): EstSettings {
  return withoutEmptySecret(document.est);
}

/** As enrolmentSettings, of SCEP. */
export function scepSettings(document: CaDocument): ScepSettings {
  return withoutEmptySecret(document.scep);
}

function withoutEmptySecret<Settings extends { readonly initialEnrollSecret?: string | undefined }>(settings: Settings): Settings {
  if (settings.initialEnrollSecret !== '') return settings;
  const { initialEnrollSecret: _, ...others } = settings;
  return others as Settings;
}
