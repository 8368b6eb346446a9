// Changes of `est` by which a CA issues to more devices, or more to them: a caller without the right to sign may not make them.
import { isDeepStrictEqual } from 'node:util';
import type { FieldRight } from '../../core/http/endpoint.ts';
import type { Change } from '../../core/http/resource/resource.ts';
import { fail } from '../../core/base/errors.ts';
import { isLonger } from '../../core/base/time.ts';
import { toKebab } from '../../core/wire/schema.ts';
import { caPath } from './actions/action.ts';
import { revokingAnything } from './actions/revoke.ts';
import { signingFor } from './issuing/signing.ts';
import { findTrusted, type FoundCa, tenantCas } from './authority/lookup.ts';
import type { CaContext } from './context.ts';
import { type AcmeSettings, type CmpSettings, disabledAcme, disabledCmp, disabledScep, type ScepSettings } from './records/enrolments.ts';
import type { CaRecord, EstSettings } from './records/records.ts';

/** Wider names and lives are what `sign-freely` is for; any of these lets devices have what `sign-csr` gives. */
const actionsOf = {
  enabled: ['sign-csr'],
  initialEnrollSecret: ['sign-csr'],
  initialEnrollTrustCa: ['sign-csr'],
  allowReenrollWithIssuedCert: ['sign-csr'],
  allowedDomains: ['sign-csr', 'sign-freely'],
  allowSubdomains: ['sign-csr', 'sign-freely'],
  allowBareDomains: ['sign-csr', 'sign-freely'],
  allowIpSans: ['sign-csr', 'sign-freely'],
  allowWildcards: ['sign-csr', 'sign-freely'],
  allowedUris: ['sign-csr', 'sign-freely'],
  allowedEmails: ['sign-csr', 'sign-freely'],
  allowedOtherNames: ['sign-csr', 'sign-freely'],
  ttl: ['sign-csr', 'sign-freely'],
  serverKeygen: ['sign-csr', 'issue'],
} as const satisfies Record<keyof EstSettings, readonly string[]>;

const fields = Object.keys(actionsOf) as (keyof EstSettings)[];

const scepFields = Object.keys(disabledScep).concat('initialEnrollSecret', 'nextCa') as (keyof ScepSettings)[];

const acmeFields = Object.keys(disabledAcme).concat('caaIdentities') as (keyof AcmeSettings)[];

const cmpFields = Object.keys(disabledCmp).concat('initialEnrollSecret', 'messageTimeWindow', 'raCerts') as (keyof CmpSettings)[];

/** Rights to the fields, for policy/check. */
export const enrolmentRights: readonly FieldRight[] = [
  ...fields.flatMap((field) => actionsOf[field].map((action) => right(`est/${toKebab(field)}`, action))),
  ...scepFields.map((field) => right(`scep/${toKebab(field)}`, 'sign-csr')),
  ...acmeFields.map((field) => right(`acme/${toKebab(field)}`, 'sign-csr')),
  ...cmpFields.map((field) => right(`cmp/${toKebab(field)}`, 'sign-csr')),
  right('cmp/ra-certs', 'revoke'),
  {
    field: 'ca-cert',
    operation: 'execute',
    path: '/v1/state/keystore/tls/ca/{}/sign-csr',
    when: 'the CA {} has this one as est/initial-enroll-trust-ca',
  },
];

function right(field: string, action: string): FieldRight {
  return { field, operation: 'execute', path: `${caPath}/${action}` };
}

/** Throws policy-denied for a change of a CA that exists which its caller could not make by signing. */
export function requireSigner(
  { call, names: [name = ''], blindly }: Pick<Change<unknown, unknown>, 'call' | 'names' | 'blindly'>,
  wanted: EstSettings,
  present: EstSettings,
): void {
  for (const field of fields) {
    if (!isWider(field, wanted, present) && !isWiderBlindly(field, blindly('est', field))) continue;
    for (const action of actionsOf[field])
      call.access.requireEffectAt(['v1', 'state', 'keystore', 'tls', 'ca', name, action], 'execute', signingFor(wanted));
  }
}

/** As requireSigner, of SCEP: `est` has the lives of what is issued. */
export function requireScepSigner(
  { call, names: [name = ''], blindly }: Pick<Change<unknown, unknown>, 'call' | 'names' | 'blindly'>,
  est: EstSettings,
  wanted: ScepSettings,
  present: ScepSettings,
): void {
  if (scepFields.some((field) => isScepWider(field, wanted, present) || isScepWiderBlindly(field, blindly('scep', field))))
    call.access.requireEffectAt(['v1', 'state', 'keystore', 'tls', 'ca', name, 'sign-csr'], 'execute', signingFor(est));
}

/** As requireScepSigner, of ACME. */
export function requireAcmeSigner(
  { call, names: [name = ''], blindly }: Pick<Change<unknown, unknown>, 'call' | 'names' | 'blindly'>,
  est: EstSettings,
  wanted: AcmeSettings,
  present: AcmeSettings,
): void {
  if (acmeFields.some((field) => isAcmeWider(field, wanted, present) || isAcmeWiderBlindly(field, blindly('acme', field))))
    call.access.requireEffectAt(['v1', 'state', 'keystore', 'tls', 'ca', name, 'sign-csr'], 'execute', signingFor(est));
}

/** As requireScepSigner, of CMP. */
export function requireCmpSigner(
  { call, names: [name = ''], blindly }: Pick<Change<unknown, unknown>, 'call' | 'names' | 'blindly'>,
  est: EstSettings,
  wanted: CmpSettings,
  present: CmpSettings,
): void {
  const wider = cmpFields.filter((field) => isCmpWider(field, wanted, present) || isCmpWiderBlindly(field, blindly('cmp', field)));
  const path = ['v1', 'state', 'keystore', 'tls', 'ca', name];
  if (wider.length > 0) call.access.requireEffectAt([...path, 'sign-csr'], 'execute', signingFor(est));
  // A registration authority revokes as well.
  if (wider.includes('raCerts')) call.access.requireEffectAt([...path, 'revoke'], 'execute', revokingAnything());
}

function isCmpWider(field: keyof CmpSettings, wanted: CmpSettings, present: CmpSettings): boolean {
  if (field === 'approvalRequired') return present.approvalRequired && !wanted.approvalRequired;
  if (field === 'allowOld') return wanted.allowOld.some((hash) => !present.allowOld.includes(hash));
  if (field === 'raCerts') return wanted.raCerts?.some((pem) => present.raCerts?.includes(pem) !== true) === true;
  if (field === 'messageTimeWindow') return isLonger(wanted.messageTimeWindow, present.messageTimeWindow);
  const value = wanted[field];
  return value !== undefined && value !== false && value !== present[field];
}

function isCmpWiderBlindly(field: keyof CmpSettings, stated: unknown): boolean {
  if (field === 'approvalRequired') return stated === null || stated === false;
  if (field === 'messageTimeWindow') return stated !== undefined;
  if (stated === null) return field === 'allowReenrollWithIssuedCert';
  return stated !== undefined && stated !== false;
}

function isAcmeWider(field: keyof AcmeSettings, wanted: AcmeSettings, present: AcmeSettings): boolean {
  if (field === 'externalAccountRequired') return present.externalAccountRequired && !wanted.externalAccountRequired;
  if (field === 'challenges') return wanted.challenges.some((type) => !present.challenges.includes(type));
  // Without a name of its own nobody is asked; another name is that of another CA in the same records.
  if (field === 'caaIdentities') return !isDeepStrictEqual(wanted.caaIdentities ?? [], present.caaIdentities ?? []);
  return wanted.enabled && !present.enabled;
}

function isAcmeWiderBlindly(field: keyof AcmeSettings, stated: unknown): boolean {
  if (field === 'externalAccountRequired') return stated === false;
  // Without its own value the field has the default, which is every challenge.
  if (field === 'challenges' || field === 'caaIdentities') return stated !== undefined;
  return stated !== undefined && stated !== null && stated !== false;
}

function isScepWider(field: keyof ScepSettings, wanted: ScepSettings, present: ScepSettings): boolean {
  if (field === 'approvalRequired') return present.approvalRequired && !wanted.approvalRequired;
  if (field === 'allowOld') return wanted.allowOld.some((algorithm) => !present.allowOld.includes(algorithm));
  const value = wanted[field];
  return value !== undefined && value !== false && value !== present[field];
}

function isScepWiderBlindly(field: keyof ScepSettings, stated: unknown): boolean {
  if (field === 'approvalRequired') return stated === null || stated === false;
  if (stated === null) return field === 'allowReenrollWithIssuedCert';
  return stated !== undefined && stated !== false;
}

/** The refusal of all values but the present one would tell that. */
function isWiderBlindly(field: keyof EstSettings, stated: unknown): boolean {
  // A field without its own value has the default.
  if (stated === null) return field === 'allowReenrollWithIssuedCert' || field === 'ttl';
  return stated !== undefined && stated !== false;
}

function isWider(field: keyof EstSettings, wanted: EstSettings, present: EstSettings): boolean {
  if (field === 'allowedDomains') return wanted.allowedDomains.some((domain) => !present.allowedDomains.includes(domain));
  if (field === 'allowedUris' || field === 'allowedEmails' || field === 'allowedOtherNames')
    return (wanted[field] ?? []).some((name) => present[field]?.includes(name) !== true);
  if (field === 'ttl') return isLonger(wanted.ttl, present.ttl);
  const value = wanted[field];
  return value !== undefined && value !== false && value !== present[field];
}

/** Throws policy-denied where another CA trusts this one for first enrolments: who changes its certificate chooses who enrols there. */
export function requireSignerOfTrusting(context: CaContext, { call }: Pick<Change<unknown, unknown>, 'call'>, trusted: CaRecord): void {
  const { caller, access } = call;
  const isTrusting = (ca: FoundCa): boolean => ca.record.id !== trusted.id && findTrusted(context, ca)?.record.id === trusted.id;
  for (const ca of tenantCas(context, caller.tenantId))
    if (
      isTrusting(ca) &&
      !access.allowsAt(['v1', 'state', 'keystore', 'tls', 'ca', ca.record.name, 'sign-csr'], 'execute', signingFor(ca.record.est))
    )
      throw fail('policy-denied', {
        detail:
          'Another CA has this one as "est/initial-enroll-trust-ca": who changes "ca-cert" chooses who enrols there, and needs the right to sign-csr of that CA.',
      });
}
