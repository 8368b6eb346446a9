// One version: what a client, keystorectl or a document says of itself is the version in package.json.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { programVersion, userAgent } from '../../../appliance/cli/version.ts';
import { version as typescriptVersion } from '../../../appliance/clients/typescript/src/version.ts';
import lock from '../../../package-lock.json' with { type: 'json' };
import manifest from '../../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../../..');

/** Files that state it, with the text around it. */
const statements: readonly (readonly [file: string, before: string, after: string])[] = [
  ['appliance/clients/typescript/package.json', '\n  "version": "', '",\n'],
  ['appliance/clients/typescript/README.md', 'npm install ./keystored-client-', '.tgz\n'],
  ['appliance/clients/python/pyproject.toml', '\nversion = "', '"\n'],
  ['appliance/clients/python/src/keystored_client/_version.py', '\nVERSION = "', '"\n'],
  ['appliance/clients/python/README.md', 'pip install ./keystored_client-', '-py3-none-any.whl\n'],
  ['appliance/clients/go/version.go', '\nconst Version = "', '"\n'],
  ['appliance/clients/go/README.md', ' keystored-client-go-', '.tar.gz'],
  ['appliance/clients/go/README.md', './third_party/keystored-client-go-', '\n'],
  ['appliance/clients/java/pom.xml', '<artifactId>keystored-client</artifactId>\n  <version>', '</version>\n'],
  ['appliance/clients/java/src/main/java/keystored/client/internal/Version.java', ' VERSION = "', '";\n'],
  ['appliance/clients/java/README.md', '<artifactId>keystored-client</artifactId><version>', '</version>'],
  ['appliance/docs/start/installation.md', ' keystored:', '\n'],
  ['appliance/docs/administer/packaging.md', 'apt install ./keystored_', '_amd64.deb'],
];

test.each(statements)('%s states the version of package.json: %j', (file, before, after) => {
  const text = readFileSync(join(root, file), 'utf8');
  const stated = text
    .split(before)
    .slice(1)
    .map((rest) => rest.split(after, 1)[0] ?? '');
  const versions = stated.filter((one) => /^\d+\.\d+\.\d+\S*$/.test(one));
  expect(versions.length).toBeGreaterThan(0);
  expect([...new Set(versions)]).toEqual([manifest.version]);
});

describe('so do', () => {
  test('keystorectl, also in the User-Agent', () => {
    expect([programVersion, userAgent]).toEqual([manifest.version, `keystorectl/${manifest.version}`]);
  });

  test('the User-Agent of the TypeScript client', () => expect(typescriptVersion).toBe(manifest.version));

  test('the lock file', () => expect([lock.version, lock.packages[''].version]).toEqual([manifest.version, manifest.version]));
});
