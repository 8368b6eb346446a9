// The bundle of the service: the same octets at each build, nothing in it that has to stay outside, and a list of what it was made from.
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, test } from 'vitest';
import { bundleService, placesOf, type ServiceBundle } from '../../../appliance/packaging/service/bundle.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');

describe('the bundle of the service', () => {
  let bundle: ServiceBundle;
  beforeAll(async () => {
    bundle = await bundleService('dist/service/bundle');
  });
  const text = (name: string): string => String(bundle.get(name));
  const modules = (): string[] => [...bundle.keys()].filter((name) => name.endsWith('.js'));

  test('is the same at each build, at another place as deep as well, and tells nothing of this machine', async () => {
    expect(await bundleService('one/other/place')).toEqual(bundle);
    for (const [name, content] of bundle) expect(String(content).includes(root), name).toBe(false);
  });

  test('has every program that the service starts', () => {
    const programs = [
      'keystored',
      'worker',
      'shipper',
      'follower',
      'host',
      'lane',
      'setup-task',
      'json-thread',
      'slow-verifier-thread',
      'secret-block-thread',
      'directory-writer',
      'drill-process',
      'at-rest',
      'read-all',
    ];
    expect(modules()).toEqual(expect.arrayContaining(programs.map((name) => `${name}.js`)));
  });

  test('is ASCII and readable: V8 keeps one octet for a character, and stacks have the names of the sources', () => {
    for (const name of modules()) expect(/^[\0-\x7f]*$/.test(text(name)), name).toBe(true);
    expect(modules().some((name) => /\bfunction superviseWorkers\(/.test(text(name)))).toBe(true);
  });

  test('each module has a source map that leads to sources of the tree, and repeats none of them', () => {
    // A module that hands on what another one has needs no map.
    for (const name of modules().filter((one) => bundle.has(`${one}.map`))) {
      const { sources, sourcesContent } = JSON.parse(text(`${name}.map`)) as { sources: string[]; sourcesContent?: unknown };
      expect(sourcesContent, name).toBeUndefined();
      const missing = sources.filter((source) => !source.includes('rolldown') && !existsSync(resolve(root, 'dist/service/bundle', source)));
      expect(missing, name).toEqual([]);
    }
  });

  test('imports production packages alone, and none with native code or files of its own is in it', () => {
    const specifiers = modules().flatMap((name) => [
      ...text(name).matchAll(/^(?:import|export) (?:[^'"]*? from )?"([^"]+)";?$|\bimport\("([^"]+)"\)/gm),
    ]);
    const packages = specifiers.map(([, fixed, late]) => fixed ?? late ?? '').filter((name) => !name.startsWith('.') && !isBuiltin(name));
    expect(packages).toEqual(expect.arrayContaining(['lmdb', 'pkcs11js', 'msgpackr']));
    expect(packages.filter((name) => !Object.hasOwn(manifest.dependencies, name))).toEqual([]);
    const licensed = [...text('LICENSES').matchAll(/^={72}\n(\S+)/gm)].map(([, name]) => name);
    expect(licensed).toEqual(expect.arrayContaining(['keystored', 'zod', 'h3', 'prom-client', 'openid-client', 'consola']));
    for (const name of ['lmdb', 'pkcs11js', 'msgpackr', 'openpgp', '@peculiar/x509', '@grpc/grpc-js']) expect(licensed).not.toContain(name);
  });

  test('a worker loads no package at its start but those of the store, and the supervisor neither: each takes some MiB in every process', () => {
    for (const program of ['worker.js', 'keystored.js']) expect([...packagesOf(program)].toSorted(), program).toEqual(['lmdb', 'msgpackr']);
  });

  /** What a module imports, and what those import. */
  function packagesOf(program: string): ReadonlySet<string> {
    const found = new Set<string>();
    const modulesOf = new Set([program]);
    for (const name of modulesOf) {
      for (const [, imported = ''] of text(name).matchAll(/^(?:import|export) (?:[^'"]*? from )?"([^"]+)";?$/gm)) {
        if (imported.startsWith('./')) modulesOf.add(imported.slice(2));
        else if (!isBuiltin(imported)) found.add(imported);
      }
    }
    return found;
  }

  test('lists the SHA-256 of each source, of the lock file and of what makes it', () => {
    const sources = JSON.parse(text('sources.json')) as Record<string, string>;
    expect(Object.keys(sources)).toEqual(
      expect.arrayContaining([
        ...['package.json', 'package-lock.json', 'tsconfig.json', 'appliance/packaging/service/bundle.ts'],
        ...['appliance/plugins.ts', 'appliance/worker.ts', 'hsm/host/host.ts', 'plugins/transit/provision.ts', 'core/wire/json-thread.ts'],
      ]),
    );
    for (const [name, sum] of Object.entries(sources)) expect(hash('sha256', readFileSync(join(root, name))), name).toBe(sum);
  });
});

describe('a module of the bundle', () => {
  async function build(name: string, code: string): Promise<string> {
    mkdirSync(path(name));
    writeFileSync(path(name, 'main.ts'), code);
    writeFileSync(path(name, 'task.ts'), 'console.log(1);');
    const built = await rolldown({ input: path(name, 'main.ts'), plugins: [placesOf(path('out'))], logLevel: 'silent' });
    const { output } = await built.generate({ format: 'esm' });
    return output.map((part) => `${part.fileName}:\n${part.type === 'chunk' ? part.code : ''}`).join('\n');
  }

  test('that starts a program finds it beside itself, and a file where that stays', async () => {
    const code = `export default [new URL('./task.ts', import.meta.url), new URL('./notes.txt', import.meta.url)];`;
    const built = await build('good', code);
    expect(built).toContain('new URL("./task.js", import.meta.url)');
    expect(built).toContain('new URL("../good/notes.txt", import.meta.url)');
    expect(built).toMatch(/^task\.js:\n[^]*console\.log\(1\)/m);
  });

  test.each(['import.meta.dirname', 'import.meta.url', `new URL(name, import.meta.url)`])(
    'that uses %s by itself stops the build',
    async (use) => {
      const code = `const name = './task.ts';\nexport default [name, ${use}];`;
      await expect(build(`bad-${use.length}`, code)).rejects.toThrow('asks for its own place');
    },
  );
});
