// Delivers an answer: prints it, writes it to a file or streams it, and chooses the exit code.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Refused } from '../client.ts';
import type { Command } from '../../../core/http/description/command.ts';
import { fieldsOf, type JsonSchema } from '../../../core/http/description/document.ts';
import { fieldAt, setField, type Document } from '../field-path.ts';
import { type AskFor, wholeOf } from './pages.ts';
import { CommandFailed, exitCodes, OutputFailed, undelivered } from '../terminal/failure.ts';
import { beginFile, writeAll, type OutputFile } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { bareText, formatBare } from '../terminal/plain.ts';
import { openProgress } from '../terminal/progress.ts';
import { printValue, type Format } from '../terminal/output.ts';

export type Delivery = {
  readonly command: Command;
  readonly output: JsonSchema | undefined;
  /** `base64-encoded: false` was requested: fields that are base64 otherwise are text */
  readonly rawText: boolean;
  /** a read, or a request that may be repeated without harm: a lost answer is asked for again */
  readonly mayBeRepeated: boolean;
  /** the body of the request */
  readonly sent: unknown;
  /** of `--out`, begun before anything is asked: a result that cannot be written must not be made */
  readonly file: Output | undefined;
  readonly format: Format | undefined;
  /** of `--fields`, where the API has no such parameter */
  readonly fields: string | undefined;
  /** for answers that leave the rest to further ones */
  readonly askFor: AskFor;
  /** of `--value` and `--output raw`: the field whose bare value is printed */
  readonly value: string | undefined;
};

export type Output = { readonly path: string; readonly begun: OutputFile };

/** Begins the file of `--out`. Throws a usage error where it cannot be written. */
export function beginOutput(path: string, { command, output = {} }: Pick<Delivery, 'command' | 'output'>, io: Io): Output {
  const field = command.out?.split('.')[0];
  const isSecret = field === undefined || fieldsOf(output)[field]?.['x-secret'] === true;
  return { path, begun: beginFile(path, io, isSecret) };
}

/**
 * Throws CommandFailed without a message when the answer is negative, and with the code `undelivered` when something was made and the
 * answer could not be written.
 */
export async function deliver(response: IncomingMessage, delivery: Delivery, io: Io): Promise<void> {
  const mediaType = response.headers['content-type']?.split(';')[0] ?? '';
  if (mediaType !== 'application/json') return stream(response, delivery, io).catch((error: unknown) => tellMade(error, {}, delivery));
  const answer: unknown = JSON.parse(await text(response));
  // Approval was asked for: this is not the answer of the operation.
  if (response.statusCode === 202) return printValue(answer, delivery.format, io);
  await write(answer, delivery, io).catch((error: unknown) => tellMade(error, answer, delivery));
  const { command } = delivery;
  const warnings = fieldAt(answer, ['warnings']);
  if (command.tree === 'config' && Array.isArray(warnings))
    for (const one of warnings) io.stderr.write(`keystorectl: warning: ${String(one)}\n`);
  const failed = fieldAt(answer, ['failed']);
  if ([command.verdict ?? []].flat().some((name) => fieldAt(answer, [name]) === false)) throw new CommandFailed(exitCodes.no, '');
  if (typeof failed === 'number' && failed > 0) throw new CommandFailed(exitCodes.no, `${failed} items failed`);
}

async function write(answer: unknown, delivery: Delivery, io: Io): Promise<void> {
  const { command, file, format, fields, value } = delivery;
  if (file !== undefined && command.out !== undefined) await writePart(answer, command.out, file, delivery);
  else if (value !== undefined) await writeAll(io, formatBare(answer, value.split('/'), io.stdout.isTTY === true));
  else await printValue(fields === undefined ? answer : select(answer, fields), format, io);
}

/** Names the made entry whose result could not be written. Always throws. */
function tellMade(error: unknown, answer: unknown, { mayBeRepeated, output = {} }: Delivery): never {
  if (!(error instanceof OutputFailed) || mayBeRepeated) throw error;
  const names = Object.entries(fieldsOf(output))
    .filter(([, schema]) => schema['x-secret'] !== true && !isBase64(schema))
    .map(([name]) => [name, fieldAt(answer, [name])] as const)
    .filter(([, value]) => typeof value === 'number' || (typeof value === 'string' && value !== '' && value.length <= mostNamed));
  throw undelivered(error, names.map(([name, value]) => `${name} ${bareText(value)}`).join(', '));
}

/** Longer texts say nothing in one line. */
const mostNamed = 128;

/** Shows a refusal whose body is an answer (health that is down, a batch in which every item failed) as one. Always throws. */
export async function deliverRefusal(error: unknown, { format }: Delivery, io: Io): Promise<never> {
  if (!(error instanceof Refused) || error.answer.mediaType !== 'application/json') throw error;
  await printValue(JSON.parse(error.answer.body.toString()), format, io);
  throw new CommandFailed(error.exitCode, '');
}

async function stream(response: IncomingMessage, { file: wanted, command, askFor }: Delivery, io: Io): Promise<void> {
  const { path, begun: file } = wanted ?? { path: '-', begun: beginFile('-', io, true) };
  const progress = openProgress(io, 'octets');
  const length = Number(response.headers['content-length'] ?? Number.NaN);
  let octets = 0;
  try {
    for await (const chunk of wholeOf(response, askFor)) {
      await file.write(chunk);
      octets += chunk.length;
      if (path !== '-') progress.show(octets, Number.isNaN(length) ? undefined : octets / length);
    }
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw new CommandFailed(exitCodes.unavailable, `the answer was cut off (${error instanceof Error ? error.message : String(error)})`);
  }
  file.finish();
  progress.clear();
  if (command.action?.endsWith('backup') === true && path !== '-')
    io.stderr.write(`keystorectl: the backup is in ${path}, ${octets.toLocaleString('en')} octets\n`);
}

/** One field of the answer: octets as they are, text with a line end. */
async function writePart(
  answer: unknown,
  field: string,
  { begun: file }: Output,
  { command, output, rawText, sent }: Delivery,
): Promise<void> {
  const value = fieldAt(answer, field.split('.'));
  if (typeof value !== 'string') throw new CommandFailed(exitCodes.fault, `the answer has no ${field}`);
  const schema = fieldsOf(output ?? {})[field.split('.')[0] ?? ''];
  const wish = Object.entries(command['octets-with'] ?? {});
  const asOctets = wish.length > 0 && wish.every(([name, wanted]) => fieldAt(sent, [name]) === wanted);
  const isOctets = asOctets || (isBase64(schema) && !rawText);
  await file.write(isOctets ? Buffer.from(value, 'base64') : value.endsWith('\n') || rawText ? value : `${value}\n`);
  file.finish();
}

function isBase64(schema: JsonSchema | undefined): boolean {
  return schema?.contentEncoding === 'base64' || schema?.['x-payload'] === true;
}

/** The requested fields of a document, or of each document of a list. */
function select(value: unknown, fields: string): unknown {
  if (Array.isArray(value)) return value.map((one) => select(one, fields));
  const selected: Document = {};
  for (const path of fields.split(',')) {
    const found = fieldAt(value, path.split('/'));
    if (found !== undefined) setField(selected, path, found);
  }
  return selected;
}
