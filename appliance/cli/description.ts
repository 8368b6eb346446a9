// Loads the API description of the appliance, from which every command of keystorectl is made, and keeps it for the next command.
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OpenApiDocument } from '../../core/http/description/document.ts';
import { Refused, type Answer, type Client } from './client.ts';
import type { Connection } from './connection-options.ts';
import { CommandFailed, exitCodes } from './terminal/failure.ts';
import { homeOf, type Io } from './terminal/io.ts';

/** A kept copy: one line of JSON that describes it, then the document as it was sent. */
type Kept = { readonly etag: string | undefined; readonly body: Buffer };

/** The first line of a kept copy. */
type Label = { readonly url: string; readonly ca: string; readonly etag?: string; readonly sha256: string };

/** The part of a client that is used here. */
type Asked = Pick<Client, 'connection' | 'exchange'>;

/** RFC 9110 8.8.3. A copy with anything else is fetched again. */
const entityTag = /^(W\/)?"[\x21\x23-\x7e]*"$/;

/** Limit of an unpacked answer, above any description, against a wrong server. */
const maxOctets = 64 * 1024 * 1024;

/**
 * From the appliance, which sends it only when the kept copy is not the same (RFC 9110 13.1.2). The copy alone is used for a sealed
 * appliance, which describes nothing but has to be unsealed, and with `mayBeOld` (for help) also for one that cannot be reached.
 */
export async function loadDescription(client: Asked, io: Io, mayBeOld = false): Promise<OpenApiDocument> {
  const kept = readKept(client.connection, io);
  try {
    const answer = await fetchDescription(client, kept?.etag);
    if (answer.status === 304 && kept !== undefined) return parse(kept.body);
    const body = await contentOf(answer);
    const description = parse(body);
    keep({ etag: answer.headers.etag, body }, client.connection, io);
    return description;
  } catch (error) {
    const isSealed = error instanceof Refused && error.code === 'sealed';
    // Help needs no trusted appliance: it may be asked for before the CA is known.
    const last = mayBeOld ? readKept(client.connection, io, 'any-ca') : isSealed ? kept : undefined;
    if (last !== undefined) return parse(last.body);
    if (error instanceof SyntaxError) throw new CommandFailed(exitCodes.fault, `${client.connection.url} is not a keystored`);
    throw error;
  }
}

/** The last copy, without asking whether it is still right: for completion, which must be fast. */
export function keptDescription(connection: Connection, io: Io): OpenApiDocument | undefined {
  const kept = readKept(connection, io);
  return kept === undefined ? undefined : parse(kept.body);
}

function fetchDescription(client: Asked, etag: string | undefined): Promise<Answer> {
  const condition = etag === undefined ? {} : { 'if-none-match': etag };
  return client.exchange({ method: 'GET', path: '/v1/openapi.json', headers: { 'accept-encoding': 'gzip', ...condition } });
}

/** The body without its compression. Throws SyntaxError when it is compressed wrongly or otherwise. */
async function contentOf({ body, headers }: Answer): Promise<Buffer> {
  const { 'content-encoding': coding = 'identity' } = headers;
  if (coding === 'identity') return body;
  if (coding !== 'gzip') throw new SyntaxError(`content-encoding ${coding} was not asked for`);
  const { gunzipSync } = await import('node:zlib');
  try {
    return gunzipSync(body, { maxOutputLength: maxOctets });
  } catch (error) {
    throw new SyntaxError('the description is not gzip', { cause: error });
  }
}

/** Throws SyntaxError for anything but a description. */
function parse(body: Buffer): OpenApiDocument {
  const document = JSON.parse(body.toString()) as Partial<OpenApiDocument> | null;
  if (typeof document?.paths !== 'object' || typeof document.components !== 'object') throw new SyntaxError('no API description');
  return document as OpenApiDocument;
}

/** A copy that is whole, our own, and of this appliance: the same address, under the same trusted CA unless any will do. Else undefined. */
function readKept(connection: Connection, io: Io, ofWhom: 'this-ca' | 'any-ca' = 'this-ca'): Kept | undefined {
  const path = keptPath(connection, io);
  if (path === undefined) return undefined;
  try {
    if (!isOurs(path)) return undefined;
    const octets = readFileSync(path);
    const end = octets.indexOf('\n');
    const label = JSON.parse(octets.subarray(0, end).toString()) as Label;
    const body = octets.subarray(end + 1);
    const { url, ca } = ofAppliance(connection);
    const isOfAppliance = label.url === url && (label.ca === ca || ofWhom === 'any-ca');
    const isRight = isOfAppliance && label.sha256 === hash('sha256', body, 'hex');
    return isRight ? { etag: entityTag.test(label.etag ?? '') ? label.etag : undefined, body } : undefined;
  } catch {
    return undefined;
  }
}

/** In a cache folder that several accounts share, a copy of somebody else could make one command another. */
function isOurs(path: string): boolean {
  const { uid, mode } = statSync(path);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** Replaces the copy as a whole, for others that run at the same time. Failing is ignored: a home may be missing or read-only. */
function keep({ etag, body }: Kept, connection: Connection, io: Io): void {
  const path = keptPath(connection, io);
  if (path === undefined) return;
  const unfinished = `${path}.${process.pid}.tmp`;
  const label: Label = { ...ofAppliance(connection), ...(etag === undefined ? {} : { etag }), sha256: hash('sha256', body, 'hex') };
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(unfinished, { force: true });
    try {
      writeFileSync(unfinished, Buffer.concat([Buffer.from(`${JSON.stringify(label)}\n`), body]), { mode: 0o600, flag: 'wx' });
      renameSync(unfinished, path);
    } finally {
      rmSync(unfinished, { force: true });
    }
  } catch {
    return;
  }
}

/** Undefined with `KEYSTORED_NO_CACHE`: nothing is read or kept. */
function keptPath(connection: Connection, { environment }: Io): string | undefined {
  const { XDG_CACHE_HOME: folder, KEYSTORED_NO_CACHE: off } = environment;
  if (off) return undefined;
  return join(
    folder || join(homeOf({ environment }), '.cache'),
    'keystored',
    `api-${hash('sha256', connection.url, 'hex').slice(0, 16)}.json`,
  );
}

function ofAppliance({ url, ca }: Connection): Pick<Label, 'url' | 'ca'> {
  return { url, ca: ca === undefined ? 'system' : hash('sha256', ca, 'hex') };
}
