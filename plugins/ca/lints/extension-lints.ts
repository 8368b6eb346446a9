// The rules of certificate extensions (RFC 5280 4.2), in the order of its sections.
import { type Element, Reader, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { accessMethod, extensionId, keyPurpose } from '../../../core/der/oids.ts';
import type { CertificateSubject } from './certificate-subject.ts';
import { type KeyKind, usageMask } from './key-kinds.ts';
import { isAbsoluteUri } from './name-lints.ts';
import type { Lint } from './rule.ts';

type CertificateLint = Lint<CertificateSubject>;

const isCa = ({ constraints }: CertificateSubject): boolean => constraints?.ca === true;

/** Extensions that this CA marks critical: relying parties that do not know them refuse the certificate. */
const mayBeCritical: ReadonlySet<string> = new Set([
  extensionId.basicConstraints,
  extensionId.keyUsage,
  extensionId.extKeyUsage,
  extensionId.subjectAltName,
  extensionId.nameConstraints,
]);

const list: readonly CertificateLint[] = [
  {
    id: 'extension-twice',
    source: 'RFC 5280 4.2',
    rule: 'no extension appears twice',
    holds: ({ extensions, byId }) => extensions.length === byId.size,
  },
  {
    id: 'critical',
    source: 'RFC 5280 4.2.1, 4.2.2',
    rule: 'only basicConstraints, keyUsage, extKeyUsage, subjectAltName and nameConstraints are critical',
    holds: ({ extensions }) => extensions.every(({ id, critical }) => critical !== true || mayBeCritical.has(id)),
  },
];

const identifiers: readonly CertificateLint[] = [
  {
    id: 'authority-key-identifier',
    source: 'RFC 5280 4.2.1.1',
    rule: 'authorityKeyIdentifier has the key identifier of the issuing certificate, and nothing else',
    holds({ byId, issuedBy }) {
      const own = byId.get(extensionId.authorityKeyIdentifier);
      // A self-signed certificate may leave it out.
      if (own === undefined) return issuedBy === undefined;
      const fields = readOnly(own.value, tag.sequence);
      const identifier = fields.next(tag.primitive(0)).content;
      fields.end();
      const above = issuedBy === undefined ? keyIdentifierIn(byId.get(extensionId.subjectKeyIdentifier)) : issuedBy.keyIdentifier;
      return identifier.length > 0 && (above === undefined || Buffer.compare(identifier, above) === 0);
    },
  },
  {
    id: 'subject-key-identifier',
    source: 'RFC 5280 4.2.1.2',
    rule: 'a CA has a subjectKeyIdentifier; where present it is not empty',
    holds(subject) {
      const own = subject.byId.get(extensionId.subjectKeyIdentifier);
      return own === undefined ? !isCa(subject) : (keyIdentifierIn(own)?.length ?? 0) > 0;
    },
  },
];

const usages: readonly CertificateLint[] = [
  {
    id: 'key-usage-bits',
    source: 'RFC 5280 4.2.1.3, X.690 11.2.2',
    rule: 'keyUsage has a bit set, and no zero bits at its end',
    holds({ byId, keyUsage }) {
      const own = byId.get(extensionId.keyUsage);
      if (own === undefined) return true;
      const [unused = 0, ...octets] = new Reader(own.value).next(tag.bitString).content;
      return keyUsage !== 0 && (((octets.at(-1) ?? 0) >> unused) & 1) === 1;
    },
  },
  {
    id: 'key-usage-ca',
    source: 'RFC 5280 4.2.1.3, 4.2.1.9',
    rule: 'keyUsage has keyCertSign when the certificate is that of a CA, and only then',
    holds: (subject) =>
      isCa(subject) ? subject.keyUsage === undefined || hasUsage(subject, 'keyCertSign') : !hasUsage(subject, 'keyCertSign'),
  },
  {
    id: 'key-usage-present',
    source: 'RFC 5280 4.2.1.3',
    rule: 'keyUsage is present and critical',
    holds: ({ byId }) => byId.get(extensionId.keyUsage)?.critical === true,
  },
  ofFamily('rsa', 'rsa-key-usage', 'RFC 3279 2.3.1', 'an RSA key does not agree on keys'),
  ofFamily('rsa-pss', 'rsa-pss-key-usage', 'RFC 4055 1.2', 'a key for RSASSA-PSS only signs'),
  ofFamily('ec', 'ec-key-usage', 'RFC 8813 3', 'an EC key does not encipher'),
  ofFamily('ed25519', 'ed25519-key-usage', 'RFC 8410 5', 'an Ed25519 key only signs'),
  ofFamily('ml-dsa', 'ml-dsa-key-usage', 'RFC 9881 5', 'an ML-DSA key only signs'),
];

/** Purposes with the KeyUsage bits of which one is needed (RFC 5280 4.2.1.12). */
const usagesOfPurpose: ReadonlyMap<string, number> = new Map([
  [keyPurpose.serverAuth, usageMask.digitalSignature | usageMask.keyEncipherment | usageMask.keyAgreement],
  [keyPurpose.clientAuth, usageMask.digitalSignature | usageMask.keyAgreement],
]);

const constraints: readonly CertificateLint[] = [
  {
    id: 'basic-constraints',
    source: 'RFC 5280 4.2.1.9',
    rule: 'basicConstraints is present and critical',
    holds: ({ byId }) => byId.get(extensionId.basicConstraints)?.critical === true,
  },
  {
    id: 'path-length',
    source: 'RFC 5280 4.2.1.9',
    rule: 'pathLenConstraint is present in certificates of CAs only',
    holds: ({ constraints: own }) => own === undefined || own.ca || !own.hasPathLength,
  },
  {
    id: 'purposes',
    source: 'RFC 5280 4.2.1.12',
    rule: 'extKeyUsage names a purpose, and keyUsage allows each that is named',
    holds({ byId, keyUsage }) {
      const own = byId.get(extensionId.extKeyUsage);
      if (own === undefined) return true;
      const purposes = Array.from(readOnly(own.value, tag.sequence).rest(), ({ content }) => readObjectIdentifier(content));
      return purposes.length > 0 && purposes.every((purpose) => ((keyUsage ?? -1) & (usagesOfPurpose.get(purpose) ?? -1)) !== 0);
    },
  },
];

const policies: readonly CertificateLint[] = [
  {
    id: 'policy-twice',
    source: 'RFC 5280 4.2.1.4',
    rule: 'certificatePolicies names a policy, and none twice',
    holds({ byId }) {
      const own = byId.get(extensionId.certificatePolicies);
      if (own === undefined) return true;
      const named = Array.from(readOnly(own.value, tag.sequence).rest(), ({ content }) =>
        readObjectIdentifier(new Reader(content).next(tag.oid).content),
      );
      return named.length > 0 && new Set(named).size === named.length;
    },
  },
  {
    id: 'policy-mappings',
    source: 'RFC 9618 3, RFC 5280 4.2.1.5',
    rule: 'no certificate maps policies: chains of mappings make validation exponential where RFC 9618 is not implemented',
    holds: ({ byId }) => !byId.has(extensionId.policyMappings),
  },
  {
    id: 'constraints-of-ca',
    source: 'RFC 5280 4.2.1.10, 4.2.1.11, 4.2.1.14',
    rule: 'policyConstraints and inhibitAnyPolicy are absent: a CA here limits the names below it, and not the policies',
    holds: ({ byId }) => ![extensionId.policyConstraints, extensionId.inhibitAnyPolicy].some((id) => byId.has(id)),
  },
  {
    id: 'name-constraints',
    source: 'RFC 5280 4.2.1.10',
    rule: 'nameConstraints are those of a CA, critical, and have a subtree',
    holds(subject) {
      const own = subject.byId.get(extensionId.nameConstraints);
      if (own === undefined) return true;
      return isCa(subject) && own.critical === true && readOnly(own.value, tag.sequence).remaining.length > 0;
    },
  },
];

const locations: readonly CertificateLint[] = [
  {
    id: 'crl-distribution-points',
    source: 'RFC 5280 4.2.1.13',
    rule: 'each distribution point has a full name that is an absolute URI',
    holds({ byId }) {
      const own = byId.get(extensionId.crlDistributionPoints);
      if (own === undefined) return true;
      const points = [...readOnly(own.value, tag.sequence).rest()];
      return points.length > 0 && points.every(({ content }) => isUriPoint(content));
    },
  },
  {
    id: 'authority-info-access',
    source: 'RFC 5280 4.2.2.1',
    rule: 'each access description is that of an OCSP responder, by an absolute URI',
    holds({ byId }) {
      const own = byId.get(extensionId.authorityInfoAccess);
      if (own === undefined) return true;
      const descriptions = [...readOnly(own.value, tag.sequence).rest()];
      return descriptions.length > 0 && descriptions.every(({ content }) => isOcspUri(content));
    },
  },
];

/** Every rule about extensions except those of subjectAltName, which the requester fills. */
export const extensionLints: readonly CertificateLint[] = [list, identifiers, usages, constraints, policies, locations].flat();

function ofFamily(family: KeyKind['family'], id: string, source: string, rule: string): CertificateLint {
  return {
    id,
    source,
    rule,
    holds: ({ keyKind, keyUsage }) => keyKind?.family !== family || ((keyUsage ?? 0) & keyKind.forbiddenUsages) === 0,
  };
}

function hasUsage({ keyUsage }: CertificateSubject, usage: keyof typeof usageMask): boolean {
  return ((keyUsage ?? 0) & usageMask[usage]) !== 0;
}

function keyIdentifierIn(extension: { readonly value: Uint8Array } | undefined): Uint8Array | undefined {
  return extension === undefined ? undefined : readOnly(extension.value, tag.octetString).remaining;
}

/** `DistributionPoint { [0] { [0] fullName } }`. */
function isUriPoint(point: Uint8Array): boolean {
  const names = new Reader(point).enter(tag.constructed(0)).enter(tag.constructed(0));
  const all = [...names.rest()];
  return all.length > 0 && all.every(isUri);
}

function isOcspUri(description: Uint8Array): boolean {
  const fields = new Reader(description);
  const method = readObjectIdentifier(fields.next(tag.oid).content);
  const location = fields.next();
  fields.end();
  return method === accessMethod.ocsp && isUri(location);
}

function isUri({ tag: type, content }: Element): boolean {
  return type === tag.primitive(6) && isAbsoluteUri(content);
}
