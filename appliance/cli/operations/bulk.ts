// `--lines`: a file of values, one a line, through an action in batches; the results come out line for line.
import { statSync } from 'node:fs';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { CatalogEntry } from '../catalog.ts';
import type { Client } from '../client.ts';
import type { Document } from '../field-path.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { beginFile } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { openProgress } from '../terminal/progress.ts';

/** Items that the API accepts in one request. */
const batchItems = 1_000;
/** A body may have 4 MiB; the remainder is for names and quotes. */
const batchOctets = 3 * 1024 * 1024;

export type BulkOptions = {
  readonly entry: CatalogEntry;
  readonly path: string;
  /** fields that every item has */
  readonly fields: Document;
  readonly input: string;
  readonly output: string;
  /** write the results although some lines failed; failed lines are empty */
  readonly keepGoing: boolean;
};

type Line = { readonly number: number; readonly text: string };
type Result = Document & { readonly code?: string; readonly 'error-message'?: string };

/** Tells whether an action takes batches. */
export function takesBatches({ command, input }: CatalogEntry): boolean {
  return command.in !== undefined && command.out !== undefined && input?.properties?.['batch-input'] !== undefined;
}

/** Writes one line per line; throws CommandFailed naming the first lines that failed, with nothing written unless `keepGoing`. */
export async function runBulk(options: BulkOptions, client: Client, io: Io): Promise<void> {
  const { entry, path, fields, keepGoing } = options;
  const { in: into = '', out = '' } = entry.command;
  const size = options.input === '-' ? undefined : sizeOf(options.input);
  const file = beginFile(options.output, io, entry.output?.properties?.[out]?.['x-secret'] === true);
  const progress = openProgress(io);
  const failures: string[] = [];
  let [done, read, failed] = [0, 0, 0];
  try {
    for await (const lines of batches(options.input, io)) {
      const results = await runBatch(
        client,
        entry,
        path,
        lines.map(({ text }) => ({ ...fields, [into]: text })),
      );
      const texts = results.map((result, index) => {
        if (result.code === undefined) return String(result[out]);
        failed += 1;
        if (failures.length < 5) failures.push(`line ${lines[index]?.number}: ${result.code}: ${result['error-message'] ?? ''}`);
        return '';
      });
      if (failed === 0 || keepGoing) await file.write(`${texts.join('\n')}\n`);
      done += lines.length;
      read += lines.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
      progress.show(done, size === undefined ? undefined : Math.min(1, read / size));
    }
  } catch (error) {
    file.abandon();
    throw error;
  } finally {
    progress.clear();
  }
  if (failed > 0 && !keepGoing) file.abandon();
  else file.finish();
  if (failed === 0) return;
  const outcome = keepGoing ? 'their lines are empty' : 'nothing was written; --keep-going writes the others';
  throw new CommandFailed(exitCodes.no, [`${failed} of ${done} lines failed, ${outcome}`, ...failures].join('\n  '));
}

async function runBatch(client: Client, entry: CatalogEntry, path: string, items: readonly Document[]): Promise<readonly Result[]> {
  const request = { method: entry.method, path, body: { 'batch-input': items } };
  const answer = (await client.json(request).catch(allFailed)) as { 'batch-results'?: readonly Result[] };
  const results = answer['batch-results'];
  if (results?.length !== items.length) throw new CommandFailed(exitCodes.fault, 'the answer does not fit the batch that was sent');
  return results;
}

/** A batch in which every item failed is answered with 400, and with the results. */
function allFailed(error: unknown): unknown {
  const body = (error as { answer?: { body: Buffer; mediaType: string } }).answer;
  const value: unknown = body?.mediaType === 'application/json' ? JSON.parse(body.body.toString()) : undefined;
  if (typeof value === 'object' && value !== null && 'batch-results' in value) return value;
  throw error;
}

/** Skips empty lines: editors leave them at the end. */
async function* batches(input: string, io: Io): AsyncIterable<readonly Line[]> {
  const stream = input === '-' ? io.stdin : createReadStream(input);
  let [lines, octets, number]: [Line[], number, number] = [[], 0, 0];
  for await (const text of createInterface({ input: stream, crlfDelay: Infinity })) {
    number += 1;
    if (text === '') continue;
    const length = Buffer.byteLength(text);
    if (lines.length === batchItems || (octets + length > batchOctets && lines.length > 0)) {
      yield lines;
      [lines, octets] = [[], 0];
    }
    lines.push({ number, text });
    octets += length;
  }
  if (lines.length > 0) yield lines;
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    throw usageError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
}
