// The containers of a CA's document by which devices enrol: `est`, whose names and lives count for all protocols, `scep`, `acme` and `cmp`.
import { z } from 'zod';
import { maxPemCharacters } from '../../../core/base/texts/pem.ts';
import { fail } from '../../../core/base/errors.ts';
import { naming, type NamedEntry } from '../../../core/http/named-entries.ts';
import { durationText, nameField, pemExample } from '../../../core/wire/fields.ts';
import { isUriPattern } from '../issuing/identity-policy.ts';
import { normaliseDomain } from '../names/domain.ts';
import { isEmailPattern } from '../names/mail.ts';
import { parseOtherName } from '../names/other-name.ts';
import {
  type AcmeSettings,
  challengeTypes,
  type CmpSettings,
  disabledAcme,
  disabledCmp,
  disabledScep,
  oldAlgorithms,
  oldMacHashes,
  type ScepSettings,
} from '../records/enrolments.ts';
import { disabledEnrolment, type EstSettings } from '../records/records.ts';
import { requireRegistrationCertificate } from '../registration/trusted.ts';

const resource = 'keystore/tls/ca';
const state = `/v1/state/${resource}/{}`;

/** Name of a CA whose certificate is trusted. */
const trusted: NamedEntry = { resource, needs: [{ operation: 'read', path: state }] };

const domain = z.string().refine((text) => normaliseDomain(text) !== undefined, 'must be a domain such as example.com, without wildcard');

const est = z.object({
  enabled: z.boolean().default(disabledEnrolment.enabled).describe('Lets devices enrol here; otherwise EST answers 404.'),
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
  allowSubdomains: z.boolean().default(disabledEnrolment.allowSubdomains).describe('Allows names below the domains.'),
  allowBareDomains: z.boolean().default(disabledEnrolment.allowBareDomains).describe('Allows the domains themselves.'),
  allowIpSans: z.boolean().default(disabledEnrolment.allowIpSans).describe('Lets certificates name IP addresses.'),
  allowWildcards: z
    .boolean()
    .default(disabledEnrolment.allowWildcards ?? false)
    .describe('Lets certificates name all hosts directly below a domain (`*.example.com`), where names below it are allowed.'),
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
  allowedEmails: z
    .array(
      z
        .string()
        .max(320)
        .refine(isEmailPattern, 'must be a mail address in ASCII such as alice@example.com, or *@example.com for all of a host'),
    )
    .max(1_000)
    .meta({ whenEmpty: [] })
    .optional()
    .describe(
      'Mail addresses that certificates may name, each in full; `*@example.com` are all of that host; none: no address is allowed.',
    ),
  allowedOtherNames: z
    .array(
      z
        .string()
        .max(1_024)
        .refine(
          (text) => parseOtherName(text) !== undefined,
          'must be OID;UTF8:value, as 1.3.6.1.4.1.311.20.2.3;UTF8:*@example.com, not one for mail (SmtpUTF8Mailbox)',
        ),
    )
    .max(1_000)
    .meta({ whenEmpty: [] })
    .optional()
    .describe(
      'otherNames that certificates may have, each as `OID;UTF8:value`; `*` is any value, `*@example.com` any of that domain, as of user principal names; none: no otherName is allowed.',
    ),
  ttl: durationText({ minSeconds: 60 })
    .default(disabledEnrolment.ttl)
    .meta({ description: "Life of issued certificates, never past the CA's own.", example: '30d' }),
  allowReenrollWithIssuedCert: z
    .boolean()
    .default(disabledEnrolment.allowReenrollWithIssuedCert)
    .describe('Lets a device renew with the certificate it has.'),
  serverKeygen: z
    .boolean()
    .default(disabledEnrolment.serverKeygen ?? false)
    .describe(
      'Lets devices have their key made here (serverkeygen): in the token, from which it leaves once, encrypted to the key of the certificate that the device shows.',
    ),
});

const scep = z.object({
  enabled: z
    .boolean()
    .default(disabledScep.enabled)
    .describe('Lets devices enrol here by SCEP, with the names and lives of `est`; otherwise SCEP answers 404.'),
  initialEnrollSecret: z.string().max(1_024).optional().meta({
    description:
      'Shared secret of first enrolment, the challengePassword of all devices: 6 octets or more in UTF-8, no control characters. Better: a secret for each device.',
    example: 'correct horse battery staple',
  }),
  allowReenrollWithIssuedCert: z
    .boolean()
    .default(disabledScep.allowReenrollWithIssuedCert)
    .describe('Lets a device renew with the certificate it has.'),
  approvalRequired: z
    .boolean()
    .default(disabledScep.approvalRequired)
    .describe('Makes first enrolments wait for a person; without a shared secret also those that send none.'),
  allowOld: z
    .array(z.enum(oldAlgorithms).meta({ typeName: 'OldAlgorithm' }))
    .max(oldAlgorithms.length)
    .meta({ whenEmpty: [] })
    .default([])
    .describe('Weak algorithms that messages of devices may use all the same.'),
  nextCa: naming(nameField(), trusted).optional().meta({
    description: 'CA that comes after this one: devices that ask for the next certificate (GetNextCACert) get that of this CA.',
    example: 'device-ca-2',
  }),
});

const acme = z.object({
  enabled: z
    .boolean()
    .default(disabledAcme.enabled)
    .describe('Lets servers enrol here by ACME, with the names and lives of `est`; otherwise ACME answers 404.'),
  externalAccountRequired: z
    .boolean()
    .default(disabledAcme.externalAccountRequired)
    .describe('Requires a key of make-eab-key for each new account; otherwise anybody who reaches the listener makes one.'),
  challenges: z
    .array(z.enum(challengeTypes).meta({ typeName: 'AcmeChallenge' }))
    .max(challengeTypes.length)
    .meta({ whenEmpty: [] })
    .default([...challengeTypes])
    .describe('Ways in which an account may prove that it controls a name; none: only names of its key are issued.'),
  caaIdentities: z
    .array(domain)
    .max(16)
    .optional()
    .describe('Names that this CA has in CAA records of the name service, which then decide for each name; none: they are not asked.'),
});

const cmp = z.object({
  enabled: z
    .boolean()
    .default(disabledCmp.enabled)
    .describe('Lets devices enrol here by CMP, with the names and lives of `est`; otherwise CMP answers 404.'),
  initialEnrollSecret: z.string().max(1_024).optional().meta({
    description:
      'Shared secret of first enrolment, for the MAC of all devices: 6 octets or more in UTF-8, no control characters. Better: a secret for each device.',
    example: 'correct horse battery staple',
  }),
  allowReenrollWithIssuedCert: z
    .boolean()
    .default(disabledCmp.allowReenrollWithIssuedCert)
    .describe('Lets a device renew with the certificate it has.'),
  allowTrustedCert: z
    .boolean()
    .default(disabledCmp.allowTrustedCert)
    .describe('Lets a first enrolment be signed with a certificate of `est/initial-enroll-trust-ca`.'),
  approvalRequired: z.boolean().default(disabledCmp.approvalRequired).describe('Makes first enrolments wait for a person.'),
  allowOld: z
    .array(z.enum(oldMacHashes).meta({ typeName: 'OldMacHash' }))
    .max(oldMacHashes.length)
    .meta({ whenEmpty: [] })
    .default([])
    .describe('Weak hashes from which devices may derive the key of their MAC all the same.'),
  messageTimeWindow: durationText({ minSeconds: 60 }).optional().meta({
    description: 'How far the time of a message may be from the clock of the appliance; absent: it does not matter.',
    example: '1h',
  }),
  raCerts: z
    .array(z.string().max(maxPemCharacters))
    .max(16)
    .meta({ whenEmpty: [] })
    .optional()
    .meta({
      description:
        'Certificates of registration authorities that speak for devices: they vouch for keys (raVerified), pass messages on (nested) and revoke. Each has the purpose cmcRA.',
      example: [pemExample('CERTIFICATE')],
    }),
});
/** The containers, each with its defaults. */
export const enrolmentContainers = {
  est: est.prefault({}).describe('Enrolment of devices.'),
  scep: scep.prefault({}).describe('Enrolment of devices by SCEP.'),
  acme: acme.prefault({}).describe('Enrolment of servers by ACME.'),
  cmp: cmp.prefault({}).describe('Enrolment of devices by CMP.'),
};

type Containers = { readonly [Name in keyof typeof enrolmentContainers]: z.infer<(typeof enrolmentContainers)[Name]> };

/** Octets in UTF-8: the least that NIST SP 800-63B (revision 3, section 5.1.1.1) allows for secrets that are drawn at random. */
const minSecretOctets = 6;

/**
 * Returns the reason for which a shared secret is unusable for devices or too weak; undefined if it is acceptable. Not part of the schema:
 * secrets from before the rule stay valid.
 */
function findSecretProblem(secret: string): string | undefined {
  // RFC 7617 section 2: a password in HTTP Basic has no control characters.
  if (/[\p{Cc}\p{Cs}]/u.test(secret)) return 'has a control character, which no client can send in HTTP Basic';
  if (Buffer.byteLength(secret) < minSecretOctets) return `is too short: give it at least ${minSecretOctets} octets in UTF-8`;
  return undefined;
}
type WithSecret = { readonly initialEnrollSecret?: string | undefined };

/** Throws `invalid-value` for a new secret that devices cannot send or that is too weak. */
export function requireFitSecret(
  container: 'est' | 'scep' | 'cmp',
  { initialEnrollSecret: secret }: WithSecret,
  current: WithSecret | undefined,
): void {
  const present = current?.initialEnrollSecret;
  const problem = secret === undefined || secret === present ? undefined : findSecretProblem(secret);
  if (problem !== undefined) throw fail('invalid-value', { detail: `"${container}/initial-enroll-secret" ${problem}.` });
}

/** An empty secret counts as absent. */
export function enrolmentSettings(document: Containers): EstSettings {
  return withoutEmptySecret(document.est);
}

/** As enrolmentSettings, of SCEP. */
export function scepSettings(document: Containers): ScepSettings {
  return withoutEmptySecret(document.scep);
}

/** As enrolmentSettings, of CMP. Throws `invalid-certificate`. */
export function cmpSettings(document: Containers): CmpSettings {
  const settings = withoutEmptySecret(document.cmp);
  const { raCerts } = settings;
  return raCerts === undefined ? settings : { ...settings, raCerts: raCerts.map(requireRegistrationCertificate) };
}

function withoutEmptySecret<Settings extends { readonly initialEnrollSecret?: string | undefined }>(settings: Settings): Settings {
  if (settings.initialEnrollSecret !== '') return settings;
  const { initialEnrollSecret: _, ...others } = settings;
  return others as Settings;
}

/** The settings of ACME as a document has them. */
export function acmeDocument({ caaIdentities, ...settings }: AcmeSettings): Containers['acme'] {
  return {
    ...settings,
    challenges: [...settings.challenges],
    ...(caaIdentities === undefined ? {} : { caaIdentities: [...caaIdentities] }),
  };
}

/** The settings of CMP as a document has them. */
export function cmpDocument({ raCerts, ...settings }: CmpSettings): Containers['cmp'] {
  return { ...settings, allowOld: [...settings.allowOld], ...(raCerts === undefined ? {} : { raCerts: [...raCerts] }) };
}
