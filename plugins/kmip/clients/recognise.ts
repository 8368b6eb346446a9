// Finds the entry of a certificate, in the newest state of the store, for every request: what an administrator or a CA has ended works no longer.
import { X509Certificate } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { readDer } from '../../../core/base/texts/pem.ts';
import type { ClientCertificate } from '../../../core/tls/client-certificate.ts';
import type { Kmip } from '../context.ts';
import { nameKinds } from '../../../core/wire/certificate-fields.ts';
import type { ClientRecord, FoundClient } from '../records/client-record.ts';
import { noteTenant } from './first-tenants.ts';
import { type Owner, ownersAt, placeOfFingerprint, placeOfName } from './places.ts';

/** The entry; undefined for a certificate that is nobody's, expired, revoked, or of an entry that is disabled. */
export function recognise(kmip: Kmip, certificate: ClientCertificate): FoundClient | undefined {
  const fingerprint = fingerprintOf(certificate);
  if (fingerprint === undefined) return undefined;
  const owners = [...ownersAt(kmip.tables, placeOfFingerprint(fingerprint)), ...ownersByName(kmip, certificate)];
  const found = firstOf(owners, kmip, certificate, kmip.tables.firstTenants.get([fingerprint])?.tenantId);
  if (found?.record.enabled !== true) return undefined;
  noteTenant(kmip, certificate, fingerprint, found);
  return found;
}

/** Tells whether an entry takes the certificate now, but for `enabled`. */
export function takes(kmip: Kmip, { tenantId, record }: FoundClient, certificate: ClientCertificate): boolean {
  const { fingerprints, trustCa, anchor, certificateName, nameFrom, revocation, crl } = record;
  if (fingerprints.length > 0) return fingerprints.includes(fingerprintOf(certificate) ?? '') && isLive(kmip, certificate);
  const authority = trustCa === undefined ? undefined : kmip.authorities.findClientAuthority(tenantId, trustCa);
  if (authority === undefined || authority.anchor !== anchor) return false;
  const lists = authority.isOwn || revocation === 'none' ? undefined : listsIn(crl ?? '');
  const judged = authority.judge(certificate, lists);
  if ('problem' in judged) return false;
  const [name, ...more] = judged.names[nameFrom];
  return name !== undefined && more.length === 0 && name === certificateName;
}

/** DER of the lists; none where the text has something else. */
export function listsIn(crl: string): readonly Uint8Array[] {
  return readDer(crl, 'X509 CRL') ?? [];
}

/** SHA-256 of the certificate, lower-case hexadecimal. */
function fingerprintOf(certificate: ClientCertificate): string | undefined {
  const thumbprint = certificate.thumbprint('certificate');
  return thumbprint === undefined ? undefined : Buffer.from(thumbprint, 'base64url').toString('hex');
}

function ownersByName(kmip: Kmip, certificate: ClientCertificate): readonly Owner[] {
  const names = kmip.authorities.namesOf(certificate.leaf);
  if (names === undefined) return [];
  return nameKinds.flatMap((kind) => {
    const [name, ...more] = names[kind];
    return name === undefined || more.length > 0 ? [] : Array.from(ownersAt(kmip.tables, placeOfName(kind, name)));
  });
}

/**
 * The entry that takes the certificate; of several those of own CAs first, whose certificates are on record with their tenant, then the one that has
 * named it first, by fingerprint or by name: who names the certificate of another later gets none of its requests. A certificate that has worked for
 * a tenant works for no other one, unless that has issued it. One that has not, and that entries of several tenants take, is nobody's: which of them it
 * belongs to cannot be known, and its holder would give keys to another tenant.
 */
function firstOf(
  owners: readonly Owner[],
  kmip: Kmip,
  certificate: ClientCertificate,
  firstTenant: string | undefined,
): FoundClient | undefined {
  const candidates = owners.flatMap(({ tenantId, name, since }) => {
    const record = kmip.tables.clients.get([tenantId, name]);
    if (record === undefined) return [];
    const isOwn = isOfOwnCa(kmip, tenantId, record);
    return isOwn || firstTenant === undefined || firstTenant === tenantId ? [{ tenantId, record, since, isOwn }] : [];
  });
  const taking = candidates
    .toSorted((left, right) => Number(right.isOwn) - Number(left.isOwn) || inOrder(left.since, right.since))
    .filter((candidate) => takes(kmip, candidate, certificate));
  const [first] = taking;
  if (first === undefined || first.isOwn || firstTenant !== undefined) return first;
  if (!taking.some(({ tenantId, record }) => tenantId !== first.tenantId && record.enabled)) return first;
  sayDisputed(kmip, certificate, taking);
  return undefined;
}

/** Time between two log lines about certificates of several tenants. */
const sayEveryMs = 60_000;
const silentUntil = new WeakMap<Kmip, number>();

function sayDisputed(kmip: Kmip, certificate: ClientCertificate, taking: readonly FoundClient[]): void {
  const now = performance.now();
  if ((silentUntil.get(kmip) ?? 0) > now) return;
  silentUntil.set(kmip, now + sayEveryMs);
  const entries = taking.map(({ record }) => `${record.tenantName}/${record.name}`);
  kmip.log.warn('a KMIP certificate is refused, because entries of several tenants take it', {
    fingerprint: fingerprintOf(certificate) ?? '',
    entries,
  });
}

function inOrder(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function isOfOwnCa({ authorities }: Kmip, tenantId: string, { trustCa }: ClientRecord): boolean {
  return trustCa !== undefined && authorities.findClientAuthority(tenantId, trustCa)?.isOwn === true;
}

function isLive({ clock }: Kmip, certificate: ClientCertificate): boolean {
  try {
    const { validFromDate, validToDate } = cleanly(() => new X509Certificate(certificate.leaf));
    const now = clock.now().epochMilliseconds;
    return validFromDate.getTime() <= now && now <= validToDate.getTime();
  } catch {
    return false;
  }
}
