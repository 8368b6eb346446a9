// A tbsCertificate as the rules see it: read strictly from the DER, without the program that wrote it.
import { type Element, Reader, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';
import { issuerFieldsOf, type IssuerFields } from './issuer-fields.ts';
import { findKeyKind, type KeyKind } from './key-kinds.ts';
import type { Signer } from './signer-lints.ts';

/** Context that a certificate is compared to. */
export type CertificateContext = {
  /** DER certificate of the issuer; absent: self-signed */
  readonly issuer?: Uint8Array | undefined;
  /** A renewal repeats names that were certified before, octet by octet: rules about the form of names are not applied again. */
  readonly namesOnRecord?: boolean;
};

/** One extension, as found. */
export type ReadExtension = {
  readonly id: string;
  /** the BOOLEAN, when it is written */
  readonly critical: boolean | undefined;
  /** content of extnValue */
  readonly value: Uint8Array;
};

export type CertificateSubject = {
  readonly tbs: Uint8Array;
  readonly signer: Signer;
  readonly issuedBy: IssuerFields | undefined;
  readonly namesOnRecord: boolean;
  /** content of the INTEGER; undefined when absent */
  readonly version: Uint8Array | undefined;
  /** content of the INTEGER */
  readonly serial: Uint8Array;
  /** DER AlgorithmIdentifier, Name, SubjectPublicKeyInfo */
  readonly signature: Uint8Array;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly notBefore: Element;
  readonly notAfter: Element;
  readonly hasUniqueIds: boolean;
  readonly extensions: readonly ReadExtension[];
  /** the first of each */
  readonly byId: ReadonlyMap<string, ReadExtension>;
  /** basicConstraints; undefined when absent */
  readonly constraints: Constraints | undefined;
  /** KeyUsage bits, bit n as 1 << n; undefined when absent */
  readonly keyUsage: number | undefined;
  /** by the algorithm of the key; undefined if the appliance does not certify such keys */
  readonly keyKind: KeyKind | undefined;
};

type Constraints = { readonly ca: boolean; readonly hasPathLength: boolean; readonly writesDefault: boolean };

/** Reads a tbsCertificate that fills the octets; throws DerError. */
export function readCertificateSubject(tbs: Uint8Array, signer: Signer, context: CertificateContext): CertificateSubject {
  const fields = readOnly(tbs, tag.sequence);
  const version = fields.optional(tag.constructed(0));
  const serial = fields.next(tag.integer).content;
  const signature = fields.next(tag.sequence).whole;
  const issuer = fields.next(tag.sequence).whole;
  const validity = fields.enter(tag.sequence);
  const [notBefore, notAfter] = [validity.next(), validity.next()];
  validity.end();
  const subject = fields.next(tag.sequence).whole;
  const publicKey = fields.next(tag.sequence).whole;
  const uniqueIds = [fields.optional(tag.primitive(1)), fields.optional(tag.primitive(2))];
  const list = fields.optional(tag.constructed(3));
  fields.end();
  const extensions = list === undefined ? [] : readExtensionList(list.content);
  const byId = new Map(extensions.toReversed().map((extension) => [extension.id, extension]));
  return {
    tbs,
    signer,
    issuedBy: context.issuer === undefined ? undefined : issuerFieldsOf(context.issuer),
    namesOnRecord: context.namesOnRecord ?? false,
    version: version === undefined ? undefined : readOnly(version.content, tag.integer).remaining,
    serial,
    signature,
    issuer,
    subject,
    publicKey,
    notBefore,
    notAfter,
    hasUniqueIds: uniqueIds.some((id) => id !== undefined),
    extensions,
    byId,
    constraints: readConstraints(byId.get(extensionId.basicConstraints)),
    keyUsage: readKeyUsageBits(byId.get(extensionId.keyUsage)),
    keyKind: findKeyKind(publicKey),
  };
}

/** `Extensions ::= SEQUENCE SIZE (1..MAX) OF Extension`, also with repetitions: a rule finds those. */
export function readExtensionList(content: Uint8Array): readonly ReadExtension[] {
  return Array.from(readOnly(content, tag.sequence).rest(), ({ whole }) => {
    const fields = readOnly(whole, tag.sequence);
    const id = readObjectIdentifier(fields.next(tag.oid).content);
    const critical = fields.optional(tag.boolean);
    const value = fields.next(tag.octetString).content;
    fields.end();
    return { id, critical: critical === undefined ? undefined : critical.content[0] === 0xff, value };
  });
}

function readConstraints(extension: ReadExtension | undefined): Constraints | undefined {
  if (extension === undefined) return undefined;
  const fields = readOnly(extension.value, tag.sequence);
  const ca = fields.optional(tag.boolean);
  const pathLength = fields.optional(tag.integer);
  fields.end();
  const isCa = ca?.content[0] === 0xff;
  return { ca: isCa, hasPathLength: pathLength !== undefined, writesDefault: ca !== undefined && !isCa };
}

function readKeyUsageBits(extension: ReadExtension | undefined): number | undefined {
  if (extension === undefined) return undefined;
  const reader = new Reader(extension.value);
  const [, first = 0, second = 0] = reader.next(tag.bitString).content;
  reader.end();
  let bits = 0;
  for (let bit = 0; bit < 9; bit++) if ((bit < 8 ? first : second) & (0x80 >> (bit & 7))) bits |= 1 << bit;
  return bits;
}
