// The CAs of a tenant whose own certificates another of its CAs has issued: who revokes these ends the CAs.
import { findCa, tenantCas, caCertificates } from './lookup.ts';
import type { CaContext } from '../context.ts';
import { readCertificate } from '../der/certificate.ts';

/** Names of the CAs that a CA has certified under one of these serial numbers: by issuer and serial number, or by the key on record for it. */
export function casCertifiedBy(context: CaContext, tenantId: string, issuer: string, serials: readonly string[]): readonly string[] {
  const found = findCa(context, tenantId, issuer);
  if (found === undefined) return [];
  const wanted = new Set(serials);
  const subjects = caCertificates(found.record).map((der) => readCertificate(der).subject);
  const issued = serials.flatMap((serial) => context.tables.certificates.get([tenantId, found.record.id, serial])?.certificate ?? []);
  const keys = issued.map((der) => readCertificate(der).publicKey);
  const isCertified = (der: Uint8Array): boolean => {
    const { serial, issuer: by, publicKey } = readCertificate(der);
    const isNamed = wanted.has(serial) && subjects.some((subject) => isSame(subject, by));
    return isNamed || keys.some((key) => isSame(key, publicKey));
  };
  return tenantCas(context, tenantId)
    .filter(({ record }) => record.id !== found.record.id && caCertificates(record).some(isCertified))
    .map(({ record }) => record.name);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
