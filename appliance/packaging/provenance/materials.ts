// Materials of a build, as far as they can be found afterwards: the commit, the lock file, the parts in the bills of materials, and the
// Debian packages of the tools that compress and compile.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sha256Of } from '../bill/write.ts';
import { run } from '../run.ts';
import type { Resource } from './statement.ts';
import { parseIfJson } from '../../../core/wire/json.ts';

const root = resolve(import.meta.dirname, '../../..');

/** The commit of the tree. Throws where files differ from it: a statement about them would name another source. */
export function committedTree(): string {
  const changed = run('git', ['-C', root, 'status', '--porcelain', '--untracked-files=no']).trimEnd();
  if (changed !== '') throw new Error(`the tree is not as it was committed:\n${changed}`);
  return run('git', ['-C', root, 'rev-parse', 'HEAD']).trim();
}

/** Of which the versions decide on octets: compressed data, and the native code that is compiled while packages are installed. */
const tools = ['dpkg', 'g++', 'gzip', 'libc6-dev', 'libzstd1', 'mmdebstrap', 'nodejs', 'tar'];

/** The tools of this machine, and the lock file, which pins those that come from npm. */
export function toolResources(): readonly Resource[] {
  const format = '${db:Status-Status}\\t${binary:Package}\\t${Version}\\t${Architecture}\\n';
  const { stdout } = spawnSync('dpkg-query', ['--show', `--showformat=${format}`, ...tools], { encoding: 'utf8' });
  const installed = (stdout ?? '').split('\n').flatMap((line): Resource[] => {
    const [status, name = '', version = '', architecture = ''] = line.split('\t');
    if (status !== 'installed') return [];
    const [plain = ''] = name.split(':');
    return [{ name: plain, uri: `pkg:deb/debian/${encodeURIComponent(plain)}@${encodeURIComponent(version)}?arch=${architecture}` }];
  });
  return [{ name: 'package-lock.json', digest: { sha256: sha256Of(join(root, 'package-lock.json')) } }, ...installed];
}

type Component = { readonly purl: string; readonly hashes?: readonly { readonly alg: string; readonly content: string }[] };

/** Parts that the bills of materials (CycloneDX) among the files list, each part once. */
export function billedResources(files: readonly string[]): readonly Resource[] {
  const bills = files.filter((file) => file.endsWith('.cdx.json'));
  const parts = bills.flatMap(componentsOf);
  return [...new Map(parts.map((part) => [part.purl, resourceOf(part)])).values()];
}

function componentsOf(file: string): readonly Component[] {
  const isBill = (document: unknown): document is { readonly components: readonly Component[] } =>
    Array.isArray((document as { components?: unknown } | null)?.components);
  const document = parseIfJson(readFileSync(file, 'utf8'));
  if (!isBill(document)) throw new Error(`${file} is not a bill of materials in CycloneDX`);
  return document.components;
}

function resourceOf({ purl, hashes = [] }: Component): Resource {
  const digests = hashes.map(({ alg, content }) => [alg.replace('-', '').toLowerCase(), content] as const);
  return { uri: purl, ...(digests.length === 0 ? {} : { digest: Object.fromEntries(digests) }) };
}
