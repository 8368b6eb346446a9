// A bill of materials as CycloneDX 1.6 in JSON.
import manifest from '../../../package.json' with { type: 'json' };
import { formatDocument, uuidOf } from './document.ts';
import type { Bill, Digest, Part } from './parts.ts';

/** The same bill makes the same text. */
export function formatCycloneDx({ product, parts, epochSeconds }: Bill): string {
  const { name, version, kind, file } = product;
  const purl = `pkg:generic/${name}@${version}`;
  const content = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(epochSeconds * 1_000).toISOString(),
      lifecycles: [{ phase: 'build' }],
      component: {
        ...{ 'bom-ref': purl, type: kind, name, version, purl, description: file.name },
        hashes: [hashOf({ algorithm: 'SHA-256', hex: file.sha256 })],
        licenses: [{ expression: manifest.license }],
      },
    },
    components: parts.map(componentOf),
    dependencies: [{ ref: purl, dependsOn: parts.map((part) => part.purl) }],
  };
  return formatDocument({ ...content, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}` });
}

function componentOf({ kind, name, version, purl, license, supplier, cpe, digests = [] }: Part): object {
  return {
    ...{ 'bom-ref': purl, type: kind, name, version, purl },
    ...(supplier === undefined ? {} : { supplier: { name: supplier } }),
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(cpe === undefined ? {} : { cpe }),
    ...(digests.length === 0 ? {} : { hashes: digests.map(hashOf) }),
  };
}

function hashOf({ algorithm, hex }: Digest): object {
  return { alg: algorithm, content: hex };
}
