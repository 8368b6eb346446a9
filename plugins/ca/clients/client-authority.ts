// CAs whose certificates log clients in: ours by their records, those that are only trusted by their revocation lists.
import { hash } from 'node:crypto';
import type {
  ClientAuthority,
  ClientRefusal,
  HeldCertificate,
  JudgedClient,
  ShownCertificate,
} from '../../../core/plugin/services/certificate-authority.ts';
import { extensionId } from '../../../core/der/oids.ts';
import { caCertificates, type FoundCa, findUsableCa, hasKey, newestCertificate } from '../authority/lookup.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import type { CaContext } from '../context.ts';
import { type Certificate, isLive, readCertificate } from '../der/certificate.ts';
import { readBasicConstraints } from '../der/read-extensions.ts';
import { findPath, isClientCertificate } from '../issuing/chain.ts';
import { viaCertifyCa } from '../issuing/subordinate.ts';
import type { CaRecord, IssuedCertificate } from '../records/records.ts';
import { findIssued } from '../status/revocation.ts';
import { findRevocationProblem, readForeignCrl } from './foreign-crl.ts';
import { questionsOf } from './foreign-ocsp.ts';
import { namesOf } from './names.ts';

/** A CA by its name; undefined without one that people may trust. */
export function findClientAuthority(context: CaContext, tenantId: string, name: string): ClientAuthority | undefined {
  const ca = findUsableCa(context, tenantId, name);
  if (ca === undefined) return undefined;
  const isOwn = hasKey(ca.record);
  const judge: ClientAuthority['judge'] = (shown, lists, answers = []) => {
    try {
      return isOwn ? judgeOwn(context, ca, shown) : judgeForeign(context, ca, shown, lists && { lists, answers });
    } catch {
      // Not DER, or names that cannot be read.
      return { problem: 'unreadable' };
    }
  };
  return {
    ...{ id: ca.record.id, anchor: anchorOf(ca.record), name, isOwn, judge },
    hasSigned: (list) => readForeignCrl(list, readCertificate(newestCertificate(ca.record))) !== undefined,
    questions(shown) {
      if (isOwn || 'problem' in judge(shown, undefined)) return [];
      const path = findPath(shown.leaf, shown.intermediates, caCertificates(ca.record), context.clock.now());
      return path === undefined ? [] : questionsOf(path, () => context.clock.now());
    },
  };
}

/** The same octets are on record here, and a path leads to a certificate of the CA. */
function judgeOwn(context: CaContext, ca: FoundCa, shown: ShownCertificate): JudgedClient | ClientRefusal {
  const now = context.clock.now();
  // First, and whatever the records say: no time tells what is on record.
  const path = findPath(shown.leaf, shown.intermediates, caCertificates(ca.record), now);
  const certificate = readCertificate(shown.leaf);
  const issued = findIssued(context, ca, certificate);
  if (issued === undefined) return { problem: 'not-issued' };
  const problem = findHeldProblem(certificate, issued, now);
  if (problem !== undefined) return { problem };
  if (path === undefined) return { problem: 'no-path' };
  return {
    ...describe(certificate),
    via: issued.via,
    isGood: (transaction) => {
      const present = findIssued(context, ca, certificate, transaction);
      return present !== undefined && present.revoked === undefined && isThere(context, ca, transaction);
    },
  };
}

/** Reason for which the holder of a certificate on record cannot authenticate with it. */
export function findHeldProblem(certificate: Certificate, issued: IssuedCertificate, now: Temporal.Instant): HeldCertificate['problem'] {
  if (issued.revoked !== undefined) return 'revoked';
  if (!isLive(certificate, now)) return 'not-valid-now';
  if (issued.via === 'issuing-ca' || issued.via === viaCertifyCa || !isClientCertificate(certificate)) return 'not-for-clients';
  return issued.unconfirmed === true ? 'not-confirmed' : undefined;
}

function judgeForeign(
  context: CaContext,
  ca: FoundCa,
  shown: ShownCertificate,
  proofs: { readonly lists: readonly Uint8Array[]; readonly answers: readonly Uint8Array[] } | undefined,
): JudgedClient | ClientRefusal {
  const now = context.clock.now();
  const path = findPath(shown.leaf, shown.intermediates, caCertificates(ca.record), now);
  const certificate = readCertificate(shown.leaf);
  if (!isLive(certificate, now)) return { problem: 'not-valid-now' };
  if (isCa(certificate) || !isClientCertificate(certificate)) return { problem: 'not-for-clients' };
  if (path === undefined) return { problem: 'no-path' };
  const problem = proofs && findRevocationProblem(path, proofs.lists, proofs.answers, now);
  if (problem !== undefined) return { problem };
  return { ...describe(certificate), isGood: (transaction) => isThere(context, ca, transaction) };
}

/** Tells whether a certificate is that of a CA, which is not a client. Of own CAs the records tell. */
function isCa({ extensions }: Certificate): boolean {
  return readBasicConstraints(extensions.get(extensionId.basicConstraints)).ca;
}

function anchorOf({ id, trustCertificate }: CaRecord): string {
  return trustCertificate === undefined ? id : `${id}/${hash('sha256', trustCertificate, 'base64url')}`;
}

/** Tells whether a CA is still there, with the same certificate: the records of certificates go later than it does. */
function isThere({ tables }: CaContext, { tenantId, record }: FoundCa, transaction: WriteTransaction): boolean {
  const present = transaction.get(tables.cas, [tenantId, record.name]);
  return present !== undefined && anchorOf(present) === anchorOf(record);
}

function describe(certificate: Certificate): Pick<JudgedClient, 'serial' | 'notAfter' | 'names'> {
  return { serial: certificate.serial, notAfter: certificate.notAfter, names: namesOf(certificate) };
}
