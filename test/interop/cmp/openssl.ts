// OpenSSL as this machine has it, and the one of the next release of Debian, which is started with its own libraries.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { distribution, unpackPackages } from '../../harness/debian-packages.ts';

const cache = resolve(import.meta.dirname, '../../../node_modules/.cache/openssl-next');

/** A directory with a program `openssl` of version 3.5, made at the first use, in seconds; the text says why it cannot be had. */
export async function opensslOfNextRelease(): Promise<{ readonly directory: string } | string> {
  const directory = join(cache, 'bin');
  const program = join(directory, 'openssl');
  if (!existsSync(program)) {
    if (distribution() !== 'debian') return 'the packages are those of Debian';
    rmSync(cache, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    const of = ['openssl', 'libssl3t64', 'libc6', 'zlib1g', 'libzstd1'];
    try {
      const root = await unpackPackages(join(cache, 'work'), { suite: 'trixie', of });
      const libraries = join(root, 'usr/lib/x86_64-linux-gnu');
      const start = `exec '${libraries}/ld-linux-x86-64.so.2' --library-path '${libraries}' '${root}/usr/bin/openssl' "$@"`;
      writeFileSync(program, `#!/bin/sh\n${start}\n`);
      chmodSync(program, 0o755);
    } catch (error) {
      return `the packages of trixie: ${(error as Error).message}`;
    }
  }
  if (!execFileSync(program, ['version']).toString().startsWith('OpenSSL 3.5')) return 'the package is of another version';
  return { directory };
}
