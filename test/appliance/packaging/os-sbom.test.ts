// The bill of materials: what is in an image is on it, what is not is not, and the same image makes the same bill.
import { expect, test } from 'vitest';
import { debsOfManifest, makeSbom } from '../../../appliance/packaging/os/sbom.ts';
import manifest from '../../../package.json' with { type: 'json' };

const written = JSON.stringify({
  manifest_version: 1,
  packages: [
    { type: 'deb', name: 'libstdc++6', version: '1:14.2.0-19', architecture: 'amd64' },
    { type: 'deb', name: 'keystored', version: '0.1.0', architecture: 'amd64' },
    { type: 'rpm', name: 'other', version: '1', architecture: 'x86_64' },
  ],
});

type Bom = {
  metadata: { timestamp: string; component: { 'bom-ref': string } };
  components: { 'bom-ref': string; name: string; version: string; purl: string }[];
  dependencies: { ref: string; dependsOn?: string[] }[];
};

test('Debian packages, production packages and the parts of Node.js, each once, and every reference leads somewhere', () => {
  const text = makeSbom(debsOfManifest(written), '1.2.3', 1_700_000_000);
  expect(makeSbom(debsOfManifest(written), '1.2.3', 1_700_000_000)).toBe(text);
  const { metadata, components, dependencies } = JSON.parse(text) as Bom;
  expect(metadata.timestamp).toBe('2023-11-14T22:13:20.000Z');
  const purls = components.map(({ purl }) => purl);
  expect(purls).toContain('pkg:deb/debian/libstdc%2B%2B6@1%3A14.2.0-19?arch=amd64&distro=trixie');
  expect(purls).toContain(`pkg:generic/openssl@${process.versions.openssl}`);
  for (const [name, version] of Object.entries(manifest.dependencies))
    expect(
      components.filter((one) => one.name === name && one.version === version),
      name,
    ).toHaveLength(1);
  const names = new Set(components.map(({ name }) => name));
  for (const name of [...Object.keys(manifest.devDependencies), 'other', 'keystored', '@lmdb/lmdb-darwin-x64'])
    expect(names.has(name), name).toBe(false);

  const refs = new Set([metadata.component['bom-ref'], ...components.map(({ 'bom-ref': ref }) => ref)]);
  expect(refs.size).toBe(components.length + 1);
  expect(dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref))).toEqual([]);
});
