// A bill of materials as SPDX 2.3 in JSON.
import manifest from '../../../package.json' with { type: 'json' };
import { formatDocument, uuidOf } from './document.ts';
import type { Bill, Digest, Part, Product } from './parts.ts';

const productId = 'SPDXRef-Product';
/** Not known, or not asked. */
const unknown = 'NOASSERTION';

/** The same bill makes the same text. */
export function formatSpdx({ product, parts, epochSeconds }: Bill): string {
  const packages = parts.map((part, index) => packageOf(part, idOf(part, index)));
  const content = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: product.file.name,
    creationInfo: {
      // Without fractions of a second, which SPDX does not have.
      created: new Date(epochSeconds * 1_000).toISOString().replace('.000Z', 'Z'),
      creators: ['Organization: keystored maintainers', `Tool: ${manifest.name}-packaging-${manifest.version}`],
    },
    packages: [describeProduct(product), ...packages],
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: productId },
      ...packages.map(({ SPDXID }) => ({ spdxElementId: productId, relationshipType: 'CONTAINS', relatedSpdxElement: SPDXID })),
    ],
  };
  const namespace = `https://spdx.org/spdxdocs/${product.file.name}-${uuidOf(JSON.stringify(content))}`;
  return formatDocument({ ...content, documentNamespace: namespace });
}

function describeProduct({ name, version, kind, file }: Product): object {
  return {
    ...common(productId, name, version),
    supplier: 'Organization: keystored maintainers',
    packageFileName: file.name,
    licenseConcluded: manifest.license,
    licenseDeclared: manifest.license,
    checksums: [checksumOf({ algorithm: 'SHA-256', hex: file.sha256 })],
    primaryPackagePurpose: kind.toUpperCase(),
    externalRefs: [purlOf(`pkg:generic/${name}@${version}`)],
  };
}

function packageOf({ name, version, purl, license, supplier, cpe, digests = [] }: Part, id: string) {
  return {
    ...common(id, name, version),
    ...(supplier === undefined ? {} : { supplier: `Organization: ${supplier}` }),
    licenseConcluded: unknown,
    licenseDeclared: license ?? unknown,
    ...(digests.length === 0 ? {} : { checksums: digests.map(checksumOf) }),
    externalRefs: [
      purlOf(purl),
      ...(cpe === undefined ? [] : [{ referenceCategory: 'SECURITY', referenceType: 'cpe23Type', referenceLocator: cpe }]),
    ],
  };
}

function common(id: string, name: string, version: string) {
  return { SPDXID: id, name, versionInfo: version, downloadLocation: unknown, filesAnalyzed: false, copyrightText: unknown };
}

/** Identifiers have letters, digits, dots and hyphens only: the number tells those apart that would be the same without the rest. */
function idOf({ name }: Part, index: number): string {
  return `SPDXRef-${index + 1}-${name.replaceAll(/[^A-Za-z0-9.]+/g, '-').replace(/^-/, '')}`;
}

function purlOf(purl: string): object {
  return { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl };
}

function checksumOf({ algorithm, hex }: Digest): object {
  return { algorithm: algorithm.replace('-', ''), checksumValue: hex };
}
