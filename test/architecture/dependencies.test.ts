// The rules of the npm packages hold (dependencies.ts), and each of them finds a violation that is planted for it.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import pinned from '../../appliance/packaging/pinned-node.json' with { type: 'json' };
import { installedNode } from '../../appliance/packaging/node-binary.ts';
import { type LockedPackage, lockedPackages, productionPackages } from '../../appliance/packaging/npm-packages.ts';
import manifest from '../../package.json' with { type: 'json' };
import { type Dependencies, dependencyRules, isLicensedUnder } from './dependencies.ts';

const root = resolve(import.meta.dirname, '../..');
const present: Dependencies = {
  locked: lockedPackages(),
  manifest,
  shipped: new Set(productionPackages().keys()),
  readme: readFileSync(join(root, 'README.md'), 'utf8'),
  reasons: readFileSync(join(root, 'appliance/docs/understand/dependencies.md'), 'utf8'),
  page: readFileSync(join(root, 'appliance/docs/administer/supply-chain.md'), 'utf8'),
};

/** By the name of a rule: changes that break it. */
const planted: Readonly<Record<string, readonly Dependencies[]>> = {
  'a package with an install script is allowed to run it or denied, in package.json and in the documentation, and no other is': [
    withPackage('planted', { hasInstallScript: true }),
    { ...present, manifest: { ...manifest, allowScripts: { ...manifest.allowScripts, zod: true } } },
    { ...present, manifest: { ...manifest, allowScripts: { ...manifest.allowScripts, protobufjs: true } } },
  ],
  'what is shipped has a licence that asks for nothing but to be named, or is listed': [
    withPackage('zod', { license: 'AGPL-3.0-only' }),
    withPackage('openpgp', { license: 'GPL-3.0-or-later' }),
  ],
  'tools of development have a licence that does not reach what they make': [withPackage('vite', { license: 'GPL-2.0-only' })],
  'every package for machines of the appliance is pinned by its SHA-512, and comes from a registry': [
    withoutSum('node_modules/@oxlint/binding-linux-x64-gnu'),
    withoutSum('node_modules/@oxlint/binding-linux-arm64-gnu'),
    withPackage('planted', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }),
    withPackage('planted', { resolved: 'git+ssh://git@example.com/planted.git#1' }),
    withPackage('planted', { link: true }),
  ],
  'the lock file names the optional packages of all platforms': [
    { ...present, locked: new Map([...present.locked].filter(([path]) => path !== 'node_modules/@oxlint/binding-darwin-arm64')) },
  ],
  'package.json names one version of each package': [
    { ...present, manifest: { ...manifest, dependencies: { ...manifest.dependencies, zod: '^4.6.7' } } },
  ],
  'the README says what each package is for, and dependencies.md why it is used': [
    { ...present, manifest: { ...manifest, dependencies: { ...manifest.dependencies, 'left-pad': '1.3.0' } } },
    { ...present, readme: '' },
    { ...present, reasons: '' },
  ],
};

describe.each(dependencyRules)('$name', ({ name, violations }) => {
  test('holds', () => {
    expect(violations(present)).toEqual([]);
  });

  test('is broken by each planted violation', () => {
    expect(planted[name]?.length).toBeGreaterThan(0);
    for (const broken of planted[name] ?? []) expect(violations(broken)).not.toEqual([]);
  });
});

test.each([
  ['MIT', true],
  ['(MIT OR GPL-2.0-only)', true],
  ['MIT AND ISC', true],
  ['MIT AND GPL-2.0-only', false],
  ['(MIT OR ISC) AND GPL-2.0-only', false],
  ['GPL-2.0-only WITH Classpath-exception-2.0', false],
  ['SEE LICENSE IN LICENSE.txt', false],
  ['', false],
  [undefined, false],
])('%s is licensed under MIT or ISC: %s', (expression, expected) => {
  expect(isLicensedUnder(expression, ['MIT', 'ISC'])).toBe(expected);
});

test('Node.js, which the lock file does not cover, is the pinned one octet by octet', () => {
  expect(pinned.version).toBe(manifest.dependencies.node);
  expect(installedNode()).toBe(join(root, 'node_modules/node/bin/node'));
});

function withoutSum(path: string): Dependencies {
  const { integrity: _, ...entry } = present.locked.get(path) as LockedPackage;
  return { ...present, locked: new Map([...present.locked, [path, entry]]) };
}

function withPackage(name: string, changes: Partial<LockedPackage>): Dependencies {
  const path = `node_modules/${name}`;
  const entry = present.locked.get(path) ?? { version: '1.0.0', license: 'MIT', integrity: `sha512-${'A'.repeat(86)}==` };
  return { ...present, locked: new Map([...present.locked, [path, { ...entry, ...changes }]]) };
}
