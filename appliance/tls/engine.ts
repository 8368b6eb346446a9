// Libraries for `tls-key: token` on the machine: libp11's engine, by which OpenSSL uses a key that it cannot see, and p11-kit's client
// module, by which the engine reaches the thread that signs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '../../core/config/config.ts';
import { StartRefused } from '../start-refused.ts';

type Modules = NonNullable<Configuration['tlsKeyModules']>;
type Part = { readonly file: string; readonly debianPackage: string };

const engine: Part = { file: 'engines-3/pkcs11.so', debianPackage: 'libengine-pkcs11-openssl' };
const client: Part = { file: 'pkcs11/p11-kit-client.so', debianPackage: 'p11-kit-modules' };

/** Library directories of Debian, Fedora and a local build, by the architecture of the process. */
const triplets: Readonly<Record<string, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };
const libraryDirectories = [
  `/usr/lib/${triplets[process.arch] ?? process.arch}`,
  '/usr/lib64',
  '/usr/lib',
  '/usr/local/lib64',
  '/usr/local/lib',
];

/** The path of a Unix socket is shorter than this. */
const mostSocketOctets = 108;

/** For a start: throws StartRefused that names the missing parts for `tls-key: token`, and for what it does not go together with. */
export function requireTlsKeyModules(configuration: Configuration): void {
  if (configuration.tlsKey !== 'token') return;
  if (configuration.tlsRsaCertificate)
    throw new StartRefused(
      'tls-rsa-certificate: Node.js takes no second key beside one in a token: set tls-key: store, or leave tls-rsa-certificate out',
    );
  findTlsKeyModules(configuration);
}

/** Finds the paths of both. Throws StartRefused that names the missing one. */
export function findTlsKeyModules({
  data,
  workers,
  tlsKeyModules: given,
}: Pick<Configuration, 'data' | 'workers' | 'tlsKeyModules'>): Modules {
  if (Buffer.byteLength(signerSocket(data, workers)) >= mostSocketOctets)
    throw new StartRefused('tls-key: the path of data is too long for a Unix socket in it: choose a shorter one');
  return { engine: find(engine, given?.engine), client: find(client, given?.client) };
}

/** The socket of the thread that signs for a worker. */
export function signerSocket(data: string, worker: number): string {
  return join(data, `tls-key-${worker}.sock`);
}

function find({ file, debianPackage }: Part, given: string | undefined): string {
  const candidates = given === undefined ? libraryDirectories.map((directory) => join(directory, file)) : [given];
  const found = candidates.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new StartRefused(
    `tls-key: token needs ${file}, which is not there (looked for ${candidates.join(', ')}): install the package ${debianPackage}, name the file in tls-key-modules, or set tls-key: store`,
  );
}
