// The TLS identity of a sealed appliance. Its listener must speak before the store can be opened, so this one copy lies on the disk in clear.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsIdentity } from '../../core/http/listener/listeners.ts';
import { writeDurably } from '../../core/base/durable-files.ts';
import { paths } from './paths.ts';
import { StartRefused } from './start-refused.ts';

/** Keeps the listeners' identity for the time the appliance is sealed (mode 0600). */
export function keepSealedIdentity(data: string, { keyPem, chainPem }: { readonly keyPem: string; readonly chainPem: string }): void {
  mkdirSync(paths.tls(data), { recursive: true, mode: 0o755 });
  writeDurably(pathOf(data), JSON.stringify({ key: keyPem, cert: chainPem }));
}

/** An unattended start needs none. */
export function dropSealedIdentity(data: string): void {
  rmSync(pathOf(data), { force: true });
}

/** Whether this appliance has been started before, so that it can wait for its PIN. */
export function hasSealedIdentity(data: string): boolean {
  return existsSync(pathOf(data));
}

/** Throws StartRefused when there is none or it cannot be read. */
export function readSealedIdentity(data: string): TlsIdentity {
  try {
    return JSON.parse(readFileSync(pathOf(data), 'utf8')) as TlsIdentity;
  } catch (error) {
    throw new StartRefused(`${pathOf(data)} cannot be read (${(error as Error).message}): start once with hsm.start: unattended`);
  }
}

function pathOf(data: string): string {
  return join(paths.tls(data), 'sealed-identity.json');
}
