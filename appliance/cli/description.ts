// Loads the API description of the appliance, from which every command of keystorectl is made.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { OpenApiDocument } from '../../core/http/description/document.ts';
import { Refused, type Client } from './client.ts';
import { CommandFailed, exitCodes } from './terminal/failure.ts';
import type { Io } from './terminal/io.ts';

/**
 * From the appliance. The last copy is used for a sealed appliance, which describes nothing but has to be unsealed, and with `mayBeOld`
 * (for help) also for one that cannot be reached.
 */
export async function loadDescription(client: Client, io: Io, mayBeOld = false): Promise<OpenApiDocument> {
  const cache = cachePath(client.connection.url, io);
  try {
    const { body } = await client.exchange({ method: 'GET', path: '/v1/openapi.json' });
    const description = JSON.parse(body.toString()) as OpenApiDocument;
    keep(cache, body);
    return description;
  } catch (error) {
    const isSealed = error instanceof Refused && error.code === 'sealed';
    const kept = mayBeOld || isSealed ? keptDescription(client.connection.url, io) : undefined;
    if (kept !== undefined) return kept;
    if (error instanceof SyntaxError) throw new CommandFailed(exitCodes.fault, `${client.connection.url} is not a keystored`);
    throw error;
  }
}

/** The last copy. */
export function keptDescription(url: string, io: Io): OpenApiDocument | undefined {
  try {
    return JSON.parse(readFileSync(cachePath(url, io), 'utf8')) as OpenApiDocument;
  } catch {
    return undefined;
  }
}

function cachePath(url: string, { environment }: Io): string {
  const { XDG_CACHE_HOME: folder, HOME: home = homedir() } = environment;
  const name = createHash('sha256').update(url).digest('hex').slice(0, 16);
  return join(folder || join(home, '.cache'), 'keystored', `api-${name}.json`);
}

/** Failing to keep a copy is no error: a home directory may be missing or read-only. */
function keep(path: string, body: Buffer): void {
  try {
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    const unfinished = `${path}.${process.pid}.tmp`;
    writeFileSync(unfinished, body, { mode: 0o600 });
    renameSync(unfinished, path);
  } catch {
    return;
  }
}
