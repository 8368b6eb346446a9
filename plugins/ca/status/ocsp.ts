// OCSP (RFC 6960, with the nonces of RFC 9654): status of certificates this CA issued, signed by the CA key in the token.
import { parseDuration } from '../../../core/base/time.ts';
import { createHash } from 'node:crypto';
import { hashNames } from '../../../core/cms/algorithms.ts';
import { Allowance } from '../../../core/base/token-bucket.ts';
import { readCertificate, readExtensions } from '../der/certificate.ts';
import {
  DerError,
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
} from '../../../core/der/der.ts';
import { ocspNonce } from '../der/extensions.ts';
import { referenceOf } from '../authority/generation.ts';
import type { CaContext } from '../context.ts';
import type { FoundCa } from '../authority/lookup.ts';
import { ocspId } from '../../../core/der/oids.ts';
import { bitStringOfPublicKey } from '../der/public-key.ts';
import { type CaGeneration, type IssuedCertificate, revocationReasons } from '../records/records.ts';
import { signStructure } from '../authority/signer.ts';
import { findRevocation } from './revocation.ts';

/** Validity of an answer; a new one is signed at half that age. */
export const answersHold = '1h';
const lifeSeconds = parseDuration(answersHold, 'the life of answers').seconds;

/** Answers kept per process, so that repeated questions cost the token nothing. */
const maxKept = 10_000;

/**
 * Limits of signatures: `atOnce`, then so many a minute. Callers are not authenticated, and the token has other work. `own`: answers that
 * are useful to one caller alone; `shared`: answers that are kept, whose serials the revocation list names. Both for all callers together
 * and for each address, and none of it is charged to the tenant.
 */
const signatures = {
  own: { ofAll: { atOnce: 50, perMinute: 600 }, ofAddress: { atOnce: 25, perMinute: 300 } },
  shared: { ofAll: { atOnce: 1_000, perMinute: 12_000 }, ofAddress: { atOnce: 200, perMinute: 3_000 } },
} as const;

/** OCSPResponseStatus of answers without a signature (RFC 6960 4.2.1). */
const unsigned = { malformedRequest: 1, tryLater: 3, unauthorized: 6 } as const;

type Kept = { readonly response: Uint8Array; readonly from: Temporal.Instant };

/** An answer, and whether everybody who asks the same may get it. */
type Answered = { readonly response: Uint8Array; readonly isShared: boolean };

const forOne = (response: Uint8Array): Answered => ({ response, isShared: false });
const forAll = (response: Uint8Array): Answered => ({ response, isShared: true });

/** Tells whether a kept answer is current. One that was signed while the clock was ahead begins in the future. */
function isCurrent({ from }: Kept, now: Temporal.Instant): boolean {
  const ageSeconds = now.since(from).total('seconds');
  return ageSeconds >= 0 && ageSeconds < lifeSeconds / 2;
}

/** Answers OCSP requests for the CAs of the appliance. */
export class OcspResponder {
  readonly #context: CaContext;
  readonly #own: Allowance;
  readonly #shared: Allowance;
  readonly #kept = new Map<string, Kept>();
  /** answers that are being signed */
  readonly #underWay = new Map<string, Promise<Uint8Array>>();

  constructor(context: CaContext) {
    this.#context = context;
    this.#own = new Allowance(signatures.own, context.clock.monotonicMs());
    this.#shared = new Allowance(signatures.shared, context.clock.monotonicMs());
  }

  /**
   * DER OCSPResponse to a DER OCSPRequest. The plain question, about one certificate this CA issued, gets the same answer for every asker,
   * which is signed once and kept; it is `tryLater` for an address that has had many signed. A nonce, several certificates and serials never
   * issued are signed for this asker alone, as far as the allowance goes: then the nonce is left out, or the answer is `tryLater`. Certificates of other issuers, or of several keys of this CA, get the unsigned
   * answer `unauthorized` (RFC 5019 2.2.3).
   */
  async respond(ca: FoundCa, request: Uint8Array, clientIp: string): Promise<Answered> {
    const question = readRequest(request);
    if (question === undefined) return forOne(encodeUnsigned('malformedRequest'));
    const generation = ca.record.generations.find((one) => question.asked.every((asked) => isIssuer(asked, one)));
    if (generation === undefined) return forOne(encodeUnsigned('unauthorized'));

    const singles = question.asked.map((asked) => ({ asked, issued: this.#findIssued(ca, generation, asked) }));
    const [first] = singles;
    const common = singles.length === 1 && first?.issued !== undefined ? { asked: first.asked, issued: first.issued } : undefined;
    const now = this.#context.clock.now();
    if (common === undefined || question.nonce !== undefined) {
      if (this.#own.take(clientIp, this.#context.clock.monotonicMs()) === 0)
        return forOne(await this.#sign(ca, generation, { singles, nonce: question.nonce, now }));
      if (common === undefined) return forOne(encodeUnsigned('tryLater'));
    }
    // Answers are named by all octets of the CertID: an answer repeats them, and there are two ways to write the name of a hash.
    const name = [ca.record.id, common.issued.revoked?.at ?? '', Buffer.from(common.asked.whole).toString('hex')].join('/');
    const kept = this.#kept.get(name);
    if (kept !== undefined && isCurrent(kept, now)) return forAll(kept.response);
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return forAll(await underWay);
    if (this.#shared.take(clientIp, this.#context.clock.monotonicMs()) > 0) return forOne(encodeUnsigned('tryLater'));
    const signing = this.#sign(ca, generation, { singles: [common], nonce: undefined, now }).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, signing);
    const response = await signing;
    this.#keep(name, { response, from: now });
    return forAll(response);
  }

  #findIssued(ca: FoundCa, { generation }: CaGeneration, { serial }: CertId): Known | undefined {
    const issued = this.#context.tables.certificates.get([ca.tenantId, ca.record.id, serial]);
    const revoked = findRevocation(this.#context, ca, generation, serial);
    return issued?.generation === generation || revoked !== undefined ? { revoked } : undefined;
  }

  async #sign(ca: FoundCa, generation: CaGeneration, { singles, nonce, now }: Content): Promise<Uint8Array> {
    const nextUpdate = explicit(0, generalizedTime(now.add({ seconds: lifeSeconds })));
    const responses = singles.map(({ asked, issued }) =>
      sequence(asked.whole, encodeStatus(issued, now), generalizedTime(now), nextUpdate),
    );
    const responderId = explicit(2, octetString(digest('sha1', bitStringOfPublicKey(generation.key.publicKey))));
    const extensions = nonce === undefined ? [] : [explicit(1, sequence(ocspNonce(nonce)))];
    const signer = referenceOf({ tenantId: ca.tenantId, caId: ca.record.id }, generation);
    const encodeTbs = (): Uint8Array => sequence(responderId, generalizedTime(now), sequence(...responses), ...extensions);
    const basic = await signStructure(this.#context.hsm, signer, { kind: 'ocsp-response' }, encodeTbs, 'anybody');
    return sequence(encode(tag.enumerated, Uint8Array.of(0)), explicit(0, sequence(objectIdentifier(ocspId.basic), octetString(basic))));
  }

  #keep(name: string, answer: Kept): void {
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

const hashes: ReadonlyMap<string, CertId['hash']> = new Map([['1.3.14.3.2.26', 'sha1'], ...hashNames]);

/** A certificate of which this CA knows that it issued it, or revoked it. */
type Known = Pick<IssuedCertificate, 'revoked'> | { readonly revoked: undefined };

/** Content of a response: a status for each certificate asked for, and the nonce of the request, if it is to be answered. */
type Content = {
  readonly singles: readonly { readonly asked: CertId; readonly issued: Known | undefined }[];
  readonly nonce: Uint8Array | undefined;
  readonly now: Temporal.Instant;
};

type Question = { readonly asked: readonly CertId[]; readonly nonce: Uint8Array | undefined };

/** The certificates asked for, and the nonce; undefined when the request is malformed. Signatures of requests are ignored. */
function readRequest(der: Uint8Array): Question | undefined {
  try {
    const tbs = readOnly(der, tag.sequence).enter(tag.sequence);
    tbs.optional(tag.constructed(0));
    tbs.optional(tag.constructed(1));
    const asked = Array.from(tbs.enter(tag.sequence).rest(), ({ content }) => readCertId(new Reader(content).next(tag.sequence).whole));
    const nonce = readNonce(tbs.optional(tag.constructed(2))?.content);
    return asked.length === 0 ? undefined : { asked, nonce };
  } catch {
    return undefined;
  }
}

function readCertId(whole: Uint8Array): CertId {
  const fields = readOnly(whole, tag.sequence);
  const algorithm = fields.enter(tag.sequence);
  const hash = hashes.get(readObjectIdentifier(algorithm.next(tag.oid).content));
  if (hash === undefined) throw new DerError('hash is not known');
  // Absent or NULL: other parameters would give one question many encodings, each answered with a signature of its own.
  if (algorithm.optional(tag.null)?.content.length) throw new DerError('NULL with content');
  algorithm.end();
  const issuerNameHash = fields.next(tag.octetString).content;
  const issuerKeyHash = fields.next(tag.octetString).content;
  const serial = Buffer.from(fields.next(tag.integer).content).toString('hex');
  fields.end();
  return { whole, hash, issuerNameHash, issuerKeyHash, serial };
}

/** The nonce among the requestExtensions; one of none or of more than 128 octets is to be refused (RFC 9654 2.1). */
function readNonce(extensions: Uint8Array | undefined): Uint8Array | undefined {
  const extension = extensions === undefined ? undefined : readExtensions(extensions).get(ocspId.nonce);
  if (extension === undefined) return undefined;
  const nonce = readOnly(extension.value, tag.octetString).remaining;
  if (nonce.length < 1 || nonce.length > 128) throw new DerError('nonce of a wrong length');
  return nonce;
}

function isIssuer(asked: CertId, generation: CaGeneration): boolean {
  const { subject } = readCertificate(generation.certificate);
  return (
    Buffer.compare(asked.issuerNameHash, digest(asked.hash, subject)) === 0 &&
    Buffer.compare(asked.issuerKeyHash, digest(asked.hash, bitStringOfPublicKey(generation.key.publicKey))) === 0
  );
}

/**
 * `good [0] NULL`, `revoked [1] { revocationTime, [0] reason }` with unspecified left out as in the CRL, or `unknown [2] NULL`. A time
 * that is still to come was written before the clock was set back.
 */
function encodeStatus(issued: Known | undefined, now: Temporal.Instant): Uint8Array {
  if (issued === undefined) return implicit(2, new Uint8Array(0));
  const { revoked } = issued;
  if (revoked === undefined) return implicit(0, new Uint8Array(0));
  const reason = revocationReasons[revoked.reason];
  const reasonField = reason === 0 ? [] : [explicit(0, encode(tag.enumerated, Uint8Array.of(reason)))];
  const at = Temporal.Instant.from(revoked.at);
  return explicit(1, generalizedTime(Temporal.Instant.compare(at, now) > 0 ? now : at), ...reasonField);
}

function encodeUnsigned(status: keyof typeof unsigned): Uint8Array {
  return sequence(encode(tag.enumerated, Uint8Array.of(unsigned[status])));
}

function digest(hash: CertId['hash'], data: Uint8Array): Uint8Array {
  return createHash(hash).update(data).digest();
}
