// Invariants of the CA records, walked by the platform's check.
import type { CheckFinding } from '../../core/base/context.ts';
import { readCertificate } from './der/certificate.ts';
import type { CaContext } from './context.ts';
import { caCertificates } from './authority/lookup.ts';
import { placeOf } from './records/by-key.ts';
import type { CaRecord } from './records/records.ts';

/** Finds CAs without certificate, keys that do not match their certificate, records without a CA, and revocations and lines that do not match. */
export function* checkCas(context: CaContext): Generator<CheckFinding> {
  const { cas, certificates, lines, certificateKeys, revocations, removedCas } = context.tables;
  const known = new Map<string, CaRecord>();
  for (const [key, record] of cas.entries([])) {
    known.set(`${String(key[0])}/${record.id}`, record);
    yield* checkCa(`cas ${key.join('/')}`, record);
  }
  for (const [[tenantId, caId, serial], issued] of certificates.entries([])) {
    const where = `certificates ${String(tenantId)}/${String(caId)}/${String(serial)}`;
    if (removedCas.has([String(caId)])) continue;
    const ca = known.get(`${String(tenantId)}/${String(caId)}`);
    if (ca === undefined) yield { where, problem: 'its CA does not exist' };
    if (readCertificate(issued.certificate).serial !== serial) yield { where, problem: 'the certificate carries another serial number' };
    const revocation = revocations.get([String(tenantId), String(caId), issued.generation, String(serial)]);
    if (issued.revoked === undefined && revocation !== undefined) yield { where, problem: 'it is on the revocation list but not revoked' };
    if (issued.line !== undefined && !lines.has([String(tenantId), String(caId), issued.line, String(serial)]))
      yield { where, problem: 'it is missing in its line' };
    if (issued.byKey === true && !certificateKeys.has(placeOf([String(tenantId), String(caId), String(serial)], issued)))
      yield { where, problem: 'it is not found by its public key' };
  }
}

function* checkCa(where: string, record: CaRecord): Generator<CheckFinding> {
  if (caCertificates(record).length === 0) yield { where, problem: 'it has neither a key nor an uploaded certificate' };
  if ((record.keyType === undefined) !== (record.trustCertificate !== undefined))
    yield { where, problem: 'key type and kind of CA contradict each other' };
  for (const { generation, key, certificate } of record.generations) {
    if (Buffer.compare(readCertificate(certificate).publicKey, key.publicKey) !== 0) {
      yield { where, problem: `the certificate of key ${generation} is for another key` };
    }
    if (key.type !== record.keyType) {
      yield { where, problem: `key ${generation} is of another type than the CA` };
    }
  }
  for (const { number, key, certificate } of record.registrations ?? [])
    if (Buffer.compare(readCertificate(certificate).publicKey, key.publicKey) !== 0)
      yield { where, problem: `the certificate of registration authority ${number} is for another key` };
}
