// The rules of the source tree hold (rules.ts), and each of them finds a violation that is planted for it.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { floors, type Rule, rules, type Sources } from './rules.ts';

const root = resolve(import.meta.dirname, '../..');
const sources: Sources = new Map(floors.flatMap(filesBelow).map((file) => [file, readFileSync(join(root, file), 'utf8')]));

/** By the name of a rule: files that break it, and only it. */
const planted: Readonly<Record<string, Sources>> = {
  'a lower floor never imports a higher one': file('core/base/planted.ts', "import '../../appliance/plugins.ts';"),
  'core and plugins see of the HSM floor only hsm/api.ts': file('plugins/random/planted.ts', "import '../../hsm/client/open.ts';"),
  'nobody sees the inside of a plugin; plugins do not see each other at all': file(
    'appliance/composition/planted.ts',
    "import type { X } from '../../plugins/transit/context.ts';",
  ),
  'core/plugin/services holds types and typed names only': file('core/plugin/services/planted.ts', 'export function planted() {}'),
  'a package with an owner is imported by its owner only': file('plugins/random/planted.ts', "await import('lmdb');"),
  'no file is above 400 lines': file('plugins/random/planted.ts', '\n'.repeat(401)),
  'a function above 80 lines says in its comment why': file(
    'plugins/random/planted.ts',
    `export function planted(): number {\n${'  void 0;\n'.repeat(80)}  return 1;\n}`,
  ),
  'every file says in its first line what it is for': new Map([['plugins/random/planted.ts', 'export const planted = 1;\n']]),
  'no folder has more than 14 files': new Map(Array.from({ length: 15 }, (_, n) => [`plugins/planted/file-${n}.ts`, '// Planted.\n'])),
  'core names no plugin outside of what is listed': file('core/base/planted.ts', "export const planted = 'est';"),
  'files form no circle': new Map([
    ['plugins/random/one.ts', "// Planted.\nimport type { Two } from './two.ts';\n"],
    ['plugins/random/two.ts', "// Planted.\nimport type { One } from './one.ts';\n"],
  ]),
  'the client of a token host imports nothing of the engine': file('hsm/client/planted.ts', "import '../engine/custody.ts';"),
  'folders beside each other form no circle': file('hsm/pkcs11/planted.ts', "import type { X } from '../setup/setup.ts';"),
};

describe.each(rules)('$name', ({ name, violations }: Rule) => {
  test('holds', () => {
    expect(violations(sources)).toEqual([]);
  });

  test('is broken by a planted violation', () => {
    const broken = planted[name];
    expect(broken).toBeDefined();
    expect(violations(new Map([...sources, ...(broken as Sources)])).length).toBeGreaterThan(violations(sources).length);
  });
});

test('every top-level folder says what belongs there', () => {
  for (const folder of [...floors, 'test']) expect(readFileSync(join(root, folder, 'README.md'), 'utf8')).toContain('#');
});

const tracked = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });

test.skipIf(tracked.status !== 0)('nothing is committed beside the folders and files of the top level', () => {
  const known = [
    ...[...floors, 'test', '.ci', 'package.json', 'package-lock.json', 'tsconfig.json', 'softhsm.conf', 'LICENSE'],
    ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
    ...['.gitattributes', '.gitignore', '.knip.json', '.oxfmtrc.json', '.oxlintrc.json'],
  ];
  const top = new Set(tracked.stdout.split('\0').map((path) => path.split('/')[0] as string));
  expect([...top].filter((name) => name !== '' && !known.includes(name))).toEqual([]);
});

function file(path: string, text: string): Sources {
  return new Map([[path, `// Planted.\n${text}\n`]]);
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsx?|mjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
