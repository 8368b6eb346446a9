// The judgement of a client's certificate by a role.
import type {
  ClientAuthority,
  ClientRefusal,
  JudgedClient,
  ShownCertificate,
} from '../../../core/plugin/services/certificate-authority.ts';
import type { Logins } from '../context.ts';
import { covers, nameIn } from '../names.ts';
import { listsIn } from '../settings/role.ts';
import type { RoleRecord } from '../role-record.ts';

/** A login, or a question for the reason, has lists fetched again at most so often. */
export const fetchAgainSeconds = 60;

/** Checks in their order, and what each can find. */
export const problems = [
  ...(['no-certificate', 'no-role', 'ca-is-gone', 'unreadable', 'not-valid-now', 'not-for-clients', 'no-path', 'not-issued'] as const),
  ...([
    'no-revocation-list',
    'revoked',
    'not-confirmed',
    'issued-otherwise',
    'no-name',
    'several-names',
    'unfit-name',
    'other-name',
  ] as const),
] as const;
export type Problem = (typeof problems)[number];

/** Reasons for administrators, with what to do about them. */
export const hints: Readonly<Record<Problem, string>> = {
  'no-certificate':
    'The client has shown no certificate: it must connect to the listener certificate-listen, or under a name of certificate-hosts, with a certificate and its key.',
  'no-role': 'The tenant has no role of this name.',
  'ca-is-gone': 'The CA of the role was deleted, or has another certificate: make another role for what takes its place.',
  unreadable: 'The certificate cannot be read: it is not DER, or has a key or names that are not well-formed.',
  'not-valid-now': 'The certificate has expired, or is not valid yet.',
  'not-for-clients': 'The certificate is not for client authentication: see its keyUsage and extKeyUsage.',
  'no-path':
    'No path leads from the certificate to the CA of the role: the client must send the CAs in between, and each must be valid and may certify; names beyond the name constraints of a CA, keys below 2,048 bits and critical extensions that are not known are refused.',
  'not-issued': 'The CA of the role has not issued this certificate, or has no record of it.',
  'no-revocation-list':
    'A certificate of the path has no current revocation list of its CA in "crl" of the role or at its "crl-urls" (the state of the role says what was wrong with these), and no current answer of an OCSP responder of the role.',
  revoked: 'The certificate, or a CA on its path, is revoked.',
  'not-confirmed': 'The holder has not confirmed the certificate, which it got by CMP, and is to do so first.',
  'issued-otherwise': 'The CA has issued the certificate in another way than "issued-via" of the role says.',
  'no-name': 'The certificate has no name of the kind "name-from" of the role.',
  'several-names': 'The certificate has several names of the kind "name-from" of the role, so that its holder cannot be known.',
  'unfit-name': 'The name in the certificate has characters that no name may have here, or reads as root.',
  'other-name': 'No entry of "names" of the role covers the name in the certificate.',
};

/** A certificate that the role takes, under the name of its holder. */
export type Accepted = { readonly judged: JudgedClient; readonly name: string };

/** Finds the CA that a role was made for; undefined if it is gone. */
export function authorityOf({ authorities }: Pick<Logins, 'authorities'>, tenantId: string, role: RoleRecord): ClientAuthority | undefined {
  const authority = authorities.findClientAuthority(tenantId, role.trustCa);
  return authority?.anchor === role.anchor ? authority : undefined;
}

/** Judges a certificate by a role and its CA. */
export function judge(
  { lists: fetched }: Pick<Logins, 'lists'>,
  tenantId: string,
  authority: ClientAuthority | undefined,
  role: RoleRecord,
  shown: ShownCertificate,
  answers: readonly Uint8Array[],
): Accepted | { readonly problem: Problem } {
  if (authority === undefined) return { problem: 'ca-is-gone' };
  const lists =
    authority.isOwn || role.revocation === 'none' ? undefined : [...listsIn(role.crl ?? ''), ...fetched.of(tenantId, role.crlUrls ?? [])];
  const judged: JudgedClient | ClientRefusal = authority.judge(shown, lists, answers);
  if ('problem' in judged) return judged;
  const { issuedVia, nameFrom, names } = role;
  if (issuedVia.length > 0 && !issuedVia.some((way) => isOf(way, judged.via ?? ''))) return { problem: 'issued-otherwise' };
  const found = nameIn(judged.names, nameFrom);
  if ('problem' in found) return found;
  return names.some((pattern) => covers(pattern, found.name)) ? { judged, name: found.name } : { problem: 'other-name' };
}

/** Tells whether a record is of a way: `est-secret` and `est-renewal` are of `est`. */
function isOf(way: string, via: string): boolean {
  return via === way || via.startsWith(`${way}-`);
}
