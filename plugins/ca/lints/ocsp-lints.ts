// The rules of OCSP responses: the ResponseData that is signed (RFC 6960 4.2.1).
import { type Element, Reader, readOnly, tag } from '../../../core/der/der.ts';
import { ocspId } from '../../../core/der/oids.ts';
import { digitsOf, isGeneralizedTime } from './certificate-lints.ts';
import { type ReadExtension, readExtensionList } from './certificate-subject.ts';
import { derLint } from './der-lint.ts';
import type { Lint } from './rule.ts';
import { algorithmLints, type Signer } from './signer-lints.ts';

/** A ResponseData as the rules see it. */
export type OcspSubject = {
  readonly tbs: Uint8Array;
  readonly signer: Signer;
  /** content of ResponderID byKey */
  readonly keyHash: Uint8Array;
  readonly producedAt: Element;
  readonly responses: readonly SingleResponse[];
  readonly extensions: readonly ReadExtension[];
};

type SingleResponse = {
  readonly status: Element;
  readonly thisUpdate: Element;
  readonly nextUpdate: Element | undefined;
};

/** Reads a ResponseData that fills the octets; throws DerError. */
export function readOcspSubject(tbs: Uint8Array, signer: Signer): OcspSubject {
  const fields = readOnly(tbs, tag.sequence);
  const keyHash = readOnly(fields.next(tag.constructed(2)).content, tag.octetString).remaining;
  const producedAt = fields.next();
  const responses = Array.from(fields.enter(tag.sequence).rest(), readSingle);
  const list = fields.optional(tag.constructed(1));
  fields.end();
  const extensions = list === undefined ? [] : readExtensionList(list.content);
  return { tbs, signer, keyHash, producedAt, responses, extensions };
}

function readSingle({ whole }: Element): SingleResponse {
  const fields = readOnly(whole, tag.sequence);
  // CertID, repeated from the request.
  fields.next(tag.sequence);
  const [status, thisUpdate] = [fields.next(), fields.next()];
  const nextUpdate = fields.optional(tag.constructed(0));
  fields.end();
  return { status, thisUpdate, nextUpdate: nextUpdate === undefined ? undefined : new Reader(nextUpdate.content).next() };
}

/** Every rule of a response. */
export const ocspLints: readonly Lint<OcspSubject>[] = [
  derLint,
  ...algorithmLints,
  {
    id: 'ocsp-responder',
    source: 'RFC 6960 4.2.1',
    rule: 'the responder is named by the SHA-1 of its key',
    holds: ({ keyHash }) => keyHash.length === 20,
  },
  {
    id: 'ocsp-responses',
    source: 'RFC 6960 4.2.1',
    rule: 'there is at least one response',
    holds: ({ responses }) => responses.length > 0,
  },
  {
    id: 'ocsp-times',
    source: 'RFC 6960 4.2.2.1, 2.4',
    rule: 'times are GeneralizedTime in whole seconds; thisUpdate is not after producedAt, and nextUpdate is later',
    holds: ({ producedAt, responses }) =>
      isGeneralizedTime(producedAt) &&
      responses.every(
        ({ thisUpdate, nextUpdate }) =>
          isGeneralizedTime(thisUpdate) &&
          digitsOf(thisUpdate) <= digitsOf(producedAt) &&
          (nextUpdate === undefined || (isGeneralizedTime(nextUpdate) && digitsOf(thisUpdate) < digitsOf(nextUpdate))),
      ),
  },
  {
    id: 'ocsp-status',
    source: 'RFC 6960 4.2.1, RFC 5280 5.3.1',
    rule: 'a status is good, unknown, or revoked at a time not after producedAt, with a reason other than unspecified',
    holds: ({ responses, producedAt }) => responses.every(({ status }) => isStatus(status, digitsOf(producedAt))),
  },
  {
    id: 'ocsp-nonce',
    source: 'RFC 9654 2.1',
    rule: 'the only extension is a nonce of 1 to 128 octets, not critical',
    holds: ({ extensions }) => extensions.length <= 1 && extensions.every(isNonce),
  },
];

function isStatus({ tag: type, content }: Element, latest: string): boolean {
  if (type === tag.primitive(0) || type === tag.primitive(2)) return content.length === 0;
  if (type !== tag.constructed(1)) return false;
  const fields = new Reader(content);
  const at = fields.next();
  const reason = fields.optional(tag.constructed(0));
  fields.end();
  if (!isGeneralizedTime(at) || digitsOf(at) > latest) return false;
  const [code = 0] = reason === undefined ? [1] : readOnly(reason.content, tag.enumerated).remaining;
  return code >= 1 && code <= 10 && code !== 7;
}

function isNonce({ id, critical, value }: ReadExtension): boolean {
  const { length } = readOnly(value, tag.octetString).remaining;
  return id === ocspId.nonce && critical === undefined && length >= 1 && length <= 128;
}
