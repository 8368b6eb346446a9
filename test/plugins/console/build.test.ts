// The browser application is built to the same octets wherever and whenever it is built.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packagesNamed } from '../../../appliance/packaging/npm-packages.ts';
import { buildConsole } from '../../../plugins/console/build.ts';
import { isLicensedUnder, permissive } from '../../architecture/dependencies.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

test('two builds are the same, their packages are named and may be handed on, and no file has a date, a path of this machine or an inline address', async () => {
  const builds = [];
  for (const name of ['one', 'two']) {
    await buildConsole(path(name));
    builds.push(filesBelow(path(name)));
  }
  expect(builds[0]).toEqual(builds[1]);
  const whole = [...(builds[0]?.values() ?? [])].join('\n');
  expect(whole).not.toContain(import.meta.dirname.split('/').slice(0, 3).join('/'));
  expect(whole).not.toMatch(/sourceMappingURL|url\(data:|new Function|insertAdjacentHTML|document\.write/);
  expect(whole).toContain('Permission is hereby granted');

  const packages = packagesNamed(JSON.parse(readFileSync(path('one', 'packages.json'), 'utf8')) as string[]);
  expect([...packages.keys()]).toEqual(
    ['@noble/hashes', '@preact/signals', '@preact/signals-core', 'preact', 'qr'].map((name) => `node_modules/${name}`),
  );
  for (const [name, { license }] of packages) expect(isLicensedUnder(license, permissive), name).toBe(true);
});

function filesBelow(directory: string): Map<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(directory, name)).isFile());
  return new Map(names.sort().map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}
