// Files of TLS: the CA that clients trust, and the identity of a sealed appliance, whose listener works before the store can be opened.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsIdentity } from '../../core/http/listener/listeners.ts';
import { writeDurably } from '../../core/base/durable-files.ts';
import { paths } from '../data-directory/paths.ts';
import { parseFile, StartRefused } from '../start-refused.ts';

/** Writes DIR/tls/ca.pem, the CA that clients trust. */
export function writeApplianceCa(data: string, { caPem }: { readonly caPem: string }): void {
  mkdirSync(paths.tls(data), { recursive: true, mode: 0o755 });
  writeDurably(join(paths.tls(data), 'ca.pem'), caPem);
}

/** Reads that file, PEM. */
export function readApplianceCa(data: string): string {
  return readFileSync(join(paths.tls(data), 'ca.pem'), 'utf8');
}

/** Writes the listeners' identity for the sealed appliance (mode 0600). */
export function keepSealedIdentity(data: string, { keyPem, chainPem }: { readonly keyPem: string; readonly chainPem: string }): void {
  mkdirSync(paths.tls(data), { recursive: true, mode: 0o755 });
  writeDurably(pathOf(data), JSON.stringify({ key: keyPem, cert: chainPem }));
}

/** For unattended starts, which need none. */
export function dropSealedIdentity(data: string): void {
  rmSync(pathOf(data), { force: true });
}

/** Tells whether an earlier start has written one, so that the appliance can start sealed. */
export function hasSealedIdentity(data: string): boolean {
  return existsSync(pathOf(data));
}

/** Reads it. Throws StartRefused if it is missing or cannot be read. */
export function readSealedIdentity(data: string): TlsIdentity {
  const remedy = 'start once with hsm.start: unattended';
  if (!hasSealedIdentity(data)) throw new StartRefused(`${pathOf(data)} is not there: ${remedy}`);
  return parseFile(pathOf(data), (text) => JSON.parse(text) as TlsIdentity, remedy);
}

function pathOf(data: string): string {
  return join(paths.tls(data), 'sealed-identity.json');
}
