// OCSP (RFC 6960, in the lightweight profile of RFC 5019): status of certificates this CA issued, signed by the CA key in the token.
import { createHash } from 'node:crypto';
import { readCertificate } from './certificate.ts';
import {
  encode,
  explicit,
  generalizedTime,
  implicit,
  objectIdentifier,
  octetString,
  Reader,
  readObjectIdentifier,
  readOnly,
  sequence,
  tag,
} from './der.ts';
import { referenceOf } from './generation.ts';
import type { CaHouse } from './house.ts';
import { findGeneration, type FoundCa } from './lookup.ts';
import { ocspId } from './oids.ts';
import { bitStringOfPublicKey } from './public-key.ts';
import { type CaGeneration, type IssuedCertificate, revocationReasons } from './records.ts';
import { signStructure } from './signer.ts';

/** How long an answer may be used; we sign a new one at half that age. */
const lifeSeconds = 3_600;

/** Answers kept per process, so that anybody's asking again costs the token nothing. */
const maxKept = 10_000;

/** OCSPResponseStatus of answers without a signature (RFC 6960 4.2.1). */
const unsigned = { malformedRequest: 1, unauthorized: 6 } as const;

/** Answers OCSP requests for the CAs of one house. */
export class OcspResponder {
  readonly #house: CaHouse;
  readonly #kept = new Map<string, { readonly response: Uint8Array; readonly until: Temporal.Instant }>();

  constructor(house: CaHouse) {
    this.#house = house;
  }

  /**
   * DER OCSPResponse to a DER OCSPRequest. Requests name one certificate (RFC 5019 2.1.1); a nonce is not answered, so that answers
   * can be kept. A certificate this CA did not issue gets the unsigned answer `unauthorized` (RFC 5019 2.2.3).
   */
  async respond(ca: FoundCa, request: Uint8Array): Promise<Uint8Array> {
    const asked = readRequest(request);
    if (asked === undefined) return encodeUnsigned('malformedRequest');
    const issued = this.#house.tables.certificates.get([ca.tenantId, ca.record.id, asked.serial]);
    const generation = issued === undefined ? undefined : findGeneration(ca.record, issued.generation);
    if (issued === undefined || generation === undefined || !isIssuer(asked, generation)) return encodeUnsigned('unauthorized');

    const name = [ca.record.id, asked.serial, issued.revoked?.at ?? '', asked.hash].join('/');
    const now = this.#house.clock.now();
    const kept = this.#kept.get(name);
    if (kept !== undefined && Temporal.Instant.compare(now, kept.until) < 0) return kept.response;
    const response = await this.#sign(ca, generation, asked, issued, now);
    this.#keep(name, { response, until: now.add({ seconds: lifeSeconds / 2 }) });
    return response;
  }

  async #sign(ca: FoundCa, generation: CaGeneration, asked: CertId, issued: IssuedCertificate, now: Temporal.Instant): Promise<Uint8Array> {
    const single = sequence(
      asked.whole,
      encodeStatus(issued),
      generalizedTime(now),
      explicit(0, generalizedTime(now.add({ seconds: lifeSeconds }))),
    );
    const responderId = explicit(2, octetString(digest('sha1', bitStringOfPublicKey(generation.key.publicKey))));
    const basic = await signStructure(this.#house.hsm, referenceOf({ tenantId: ca.tenantId, caId: ca.record.id }, generation), () =>
      sequence(responderId, generalizedTime(now), sequence(single)),
    );
    return sequence(encode(tag.enumerated, Uint8Array.of(0)), explicit(0, sequence(objectIdentifier(ocspId.basic), octetString(basic))));
  }

  #keep(name: string, answer: { readonly response: Uint8Array; readonly until: Temporal.Instant }): void {
    if (this.#kept.size >= maxKept) {
      const oldest = this.#kept.keys().next().value;
      if (oldest !== undefined) this.#kept.delete(oldest);
    }
    this.#kept.set(name, answer);
  }
}

/** CertID (RFC 6960 4.1.1), echoed in the answer as it was sent. */
type CertId = {
  readonly whole: Uint8Array;
  readonly hash: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  readonly issuerNameHash: Uint8Array;
  readonly issuerKeyHash: Uint8Array;
  readonly serial: string;
};

const hashes: ReadonlyMap<string, CertId['hash']> = new Map([
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);

/** The one certificate asked for; undefined when the request is malformed or asks for several. Signatures of requests are ignored. */
function readRequest(der: Uint8Array): CertId | undefined {
  try {
    const tbs = readOnly(der, tag.sequence).enter(tag.sequence);
    tbs.optional(tag.constructed(0));
    tbs.optional(tag.constructed(1));
    const [first, ...others] = tbs.enter(tag.sequence).rest();
    if (first === undefined || others.length > 0) return undefined;
    const { whole } = new Reader(first.content).next(tag.sequence);
    const fields = readOnly(whole, tag.sequence);
    const hash = hashes.get(readObjectIdentifier(fields.enter(tag.sequence).next(tag.oid).content));
    const issuerNameHash = fields.next(tag.octetString).content;
    const issuerKeyHash = fields.next(tag.octetString).content;
    const serial = Buffer.from(fields.next(tag.integer).content).toString('hex');
    return hash === undefined ? undefined : { whole, hash, issuerNameHash, issuerKeyHash, serial };
  } catch {
    return undefined;
  }
}

function isIssuer(asked: CertId, generation: CaGeneration): boolean {
  const { subject } = readCertificate(generation.certificate);
  return (
    Buffer.compare(asked.issuerNameHash, digest(asked.hash, subject)) === 0 &&
    Buffer.compare(asked.issuerKeyHash, digest(asked.hash, bitStringOfPublicKey(generation.key.publicKey))) === 0
  );
}

/** `good [0] NULL`, or `revoked [1] { revocationTime, [0] reason }`; unspecified is left out as in the CRL. */
function encodeStatus({ revoked }: IssuedCertificate): Uint8Array {
  if (revoked === undefined) return implicit(0, new Uint8Array(0));
  const reason = revocationReasons[revoked.reason];
  const reasonField = reason === 0 ? [] : [explicit(0, encode(tag.enumerated, Uint8Array.of(reason)))];
  return explicit(1, generalizedTime(Temporal.Instant.from(revoked.at)), ...reasonField);
}

function encodeUnsigned(status: keyof typeof unsigned): Uint8Array {
  return sequence(encode(tag.enumerated, Uint8Array.of(unsigned[status])));
}

function digest(hash: CertId['hash'], data: Uint8Array): Uint8Array {
  return createHash(hash).update(data).digest();
}
