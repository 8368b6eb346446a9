// The package of etcd: the program that a cluster asks for, its licences and its bills of materials.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { programProblem } from '../../appliance/cluster/membership/etcd-process.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const packaging = resolve(import.meta.dirname, '../../appliance/packaging/etcd');
const possible = spawnSync('go', ['version']).status === 0;
if (!possible) console.warn('SKIPPED: the package of etcd, because Go is not installed');

function run(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr}`);
  return stdout;
}

describe.skipIf(!possible)('the package of etcd', () => {
  const [, wanted = ''] = /go\.etcd\.io\/etcd\/server\/v3 v([\d.]+)/.exec(readFileSync(resolve(packaging, 'go.mod'), 'utf8')) ?? [];
  const program = path('root/usr/lib/keystored/etcd');
  let deb = '';

  beforeAll(() => {
    deb = run(process.execPath, resolve(packaging, 'build-deb.ts'), path('dist')).trim();
    run('dpkg-deb', '--extract', deb, path('root'));
  });

  test('has, where the configuration looks for it, the program of the pinned version, which a cluster takes', async () => {
    expect(run(program, '--version')).toContain(`etcd Version: ${wanted}\n`);
    expect(await programProblem(program)).toBeUndefined();
    expect(run('dpkg-deb', '--field', deb, 'Version')).toMatch(new RegExp(`^${wanted.replaceAll('.', '\\.')}\\+go[\\d.]+\\n$`));
    expect(run('find', path('root'), '-perm', '/6022', '-not', '-type', 'l')).toBe('');
  });

  test('lists every module that the program names, with its licence, and the texts are in it', () => {
    const named = Array.from(
      run('go', 'version', '-m', program).matchAll(/^\tdep\t(\S+)\t(\S+)/gm),
      ([, name, version]) => `${name} ${version}`,
    );
    expect(named).toContain(`go.etcd.io/etcd/server/v3 v${wanted}`);
    const bill = JSON.parse(readFileSync(`${deb}.cdx.json`, 'utf8')) as {
      readonly components: readonly {
        readonly name: string;
        readonly version: string;
        readonly cpe?: string;
        readonly licenses?: unknown;
      }[];
    };
    expect(bill.components.map(({ name, version }) => `${name} ${version}`)).toEqual(expect.arrayContaining(named));
    expect(bill.components.filter(({ licenses }) => licenses === undefined)).toEqual([]);
    expect(bill.components.flatMap(({ cpe }) => cpe ?? [])).toContain(`cpe:2.3:a:etcd:etcd:${wanted}:*:*:*:*:*:*:*`);
    const spdx = JSON.parse(readFileSync(`${deb}.spdx.json`, 'utf8')) as { readonly packages: readonly { readonly name: string }[] };
    expect(spdx.packages.map(({ name }) => name)).toEqual(expect.arrayContaining(bill.components.map(({ name }) => name)));
    const texts = readFileSync(`${program}.LICENSES`, 'utf8');
    expect([...named, 'Apache License', 'Redistribution and use'].filter((text) => !texts.includes(text))).toEqual([]);
    expect(existsSync(path('root/usr/share/doc/keystored-etcd'))).toBe(true);
  });
});
