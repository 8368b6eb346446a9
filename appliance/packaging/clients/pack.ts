// The client libraries as packages of each language, made with the tools of that language.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import type { languages } from '../../clients/languages.ts';
import { commitEpochSeconds } from '../debian-archive.ts';
import { run } from '../run.ts';
import { archiveTar } from '../tar.ts';

const root = resolve(import.meta.dirname, '../../..');
const { version } = manifest;

/**
 * Packs the client in the folder `sources`, which stays as it is but for leftovers of the tools of its language, into the folder
 * `packages`.
 */
type Packer = (sources: string, packages: string) => void;

export const packers: Readonly<Record<(typeof languages)[number], Packer>> = {
  typescript: packTypeScript,
  python: packPython,
  go: packGo,
  java: packJava,
};

/** `keystored-client-VERSION.tgz`, for npm. */
function packTypeScript(sources: string, packages: string): void {
  const environment = { PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}` };
  run('npm', ['pack', '--silent', '--pack-destination', packages], { cwd: sources, environment });
}

/** `keystored_client-VERSION-py3-none-any.whl` and, as source, `keystored_client-VERSION.tar.gz`, for PyPI. */
function packPython(sources: string, packages: string): void {
  const environment = { SOURCE_DATE_EPOCH: String(commitEpochSeconds()) };
  const types = ['--target', 'wheel', '--target', 'sdist'];
  run(pythonWithTools(), ['-m', 'hatchling', 'build', ...types, '--directory', packages], { cwd: sources, environment });
}

/** `keystored-client-go-VERSION.tar.gz`: a module of Go is its folder. */
function packGo(sources: string, packages: string): void {
  const name = `keystored-client-go-${version}`;
  const work = mkdtempSync(join(tmpdir(), 'keystored-go-'));
  try {
    cpSync(sources, join(work, name), { recursive: true });
    archiveTar(join(packages, `${name}.tar.gz`), work, [name], commitEpochSeconds());
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** `maven`, a repository in a folder: the jar with its sources, its documentation and its pom. */
function packJava(sources: string, packages: string): void {
  const repository = join(packages, 'maven');
  rmSync(repository, { recursive: true, force: true });
  run('mvn', ['-B', '-ntp', 'clean', 'deploy', '-DskipTests', `-DaltDeploymentRepository=packages::file://${repository}`], {
    cwd: sources,
  });
}

/** Python in an environment of its own, which has the tools at the pinned versions. */
function pythonWithTools(): string {
  const pinned = join(import.meta.dirname, 'python-tools.txt');
  const stamp = createHash('sha256').update(readFileSync(pinned)).digest('hex');
  const directory = join(root, 'node_modules/.cache/python-tools');
  const [python, stampFile] = [join(directory, 'bin/python3'), join(directory, 'stamp')];
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return python;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  run('python3', ['-m', 'venv', directory]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--only-binary', ':all:', '--requirement', pinned]);
  writeFileSync(stampFile, stamp);
  return python;
}
