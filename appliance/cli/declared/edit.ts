// edit: one entry in the editor of the user. Typed text is never lost: a refusal opens it again, and text that cannot be sent is kept.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Client, Refused } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { openCatalog } from '../commands/verbs.ts';
import { type Document, isDocument } from '../field-path.ts';
import { readDocument } from '../operations/documents.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { telling } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { kindsOf, type Kind } from './kinds.ts';
import { change, readEntry } from './plan.ts';

type Edited = { readonly kind: Kind; readonly names: readonly string[]; readonly before: Document; readonly tag: string };

/** `edit RESOURCE NAMES…`. */
export async function runEdit(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io)
    .usage('edit RESOURCE NAMES… [options]')
    .description(
      'Change an entry in an editor: VISUAL, EDITOR, or vi. Only what you change is sent, if nobody else changed the entry meanwhile.',
    )
    .argument('<words...>');
  for (const option of connectionOptions()) command.addOption(option);
  command.parse([...words], { from: 'user' });
  const options = { ...before, ...command.opts<ConnectionOptions>() };
  const [resource = '', ...names] = command.args;
  const kinds = kindsOf(await openCatalog([], options, io, false));
  const kind = kinds.find((one) => one.resource === resource);
  if (kind === undefined) throw usageError(`there is no resource "${resource}"; there are: ${kinds.map((one) => one.resource).join(', ')}`);
  if (names.length !== kind.show.names.length)
    throw usageError(`edit ${resource} ${kind.show.names.map((name) => `<${name}>`).join(' ')}: give these names`);
  const client = new Client(await resolveConnection(options, io));
  const folder = telling(tmpdir(), () => mkdtempSync(join(tmpdir(), 'keystorectl-')));
  try {
    const found = await readEntry(kind, names, client);
    if (found === undefined) throw new CommandFailed(exitCodes.notFound, `there is no ${resource} ${names.join(' ')}`);
    await editUntilTaken({ kind, names, before: found.document, tag: found.tag }, join(folder, `${names.length}.yaml`), client, io);
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!(error instanceof KeptText)) rmSync(folder, { recursive: true, force: true });
    throw error;
  } finally {
    client.close();
  }
}

/** Thrown when the edited text could not be sent; its file is kept. */
class KeptText extends CommandFailed {}

async function editUntilTaken(edited: Edited, file: string, client: Client, io: Io): Promise<void> {
  const { stringify } = await import('yaml');
  const { kind, names, before, tag } = edited;
  const head = `# ${kind.resource} ${names.join(' ')}, at ${client.connection.url}\n# Secrets are not shown and stay as they are. Leave the file unchanged to change nothing.\n`;
  let text = stringify(before, { lineWidth: 0, blockQuote: 'literal' });
  let remark = '';
  for (;;) {
    telling(file, () => writeFileSync(file, head + remark + text, { mode: 0o600 }));
    const opened = readFileSync(file, 'utf8');
    await openEditor(file, io).catch((error: unknown) => {
      throw keptOr(error, file, opened !== readFileSync(file, 'utf8') || remark !== '');
    });
    const typed = readFileSync(file, 'utf8');
    if (typed === opened) {
      if (remark === '') return void io.stderr.write('keystorectl: nothing was changed\n');
      throw new KeptText(exitCodes.refused, `not sent, because it was refused and not changed afterwards; it is in ${file}`);
    }
    text = withoutRemarks(typed);
    try {
      const patch = patchBetween(before, (await readDocument(file, io)) ?? {});
      if (Object.keys(patch).length === 0) return void io.stderr.write('keystorectl: nothing was changed\n');
      await change({ kind, declared: { resource: kind.resource, names, config: patch, where: file } }, 'merge', patch, tag, client, false);
      return void io.stderr.write(`keystorectl: changed ${kind.resource} ${names.join(' ')}\n`);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      const isOvertaken = error instanceof Refused && error.answer.status === 412;
      const mayBeMended =
        error.exitCode === exitCodes.usage || error.exitCode === exitCodes.refused || error.exitCode === exitCodes.conflict;
      if (isOvertaken || !mayBeMended) throw keptOr(error, file, true);
      remark = error.message
        .split('\n')
        .map((line) => `# ! ${line}\n`)
        .join('');
    }
  }
}

function keptOr(error: unknown, file: string, isKept: boolean): unknown {
  if (!isKept || !(error instanceof CommandFailed)) return error;
  return new KeptText(error.exitCode, `${error.message}\n  nothing was changed; what you typed is in ${file}`);
}

/** The comments that were put there, which the next ones replace. */
function withoutRemarks(text: string): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => !line.startsWith('#'));
  return lines.slice(Math.max(0, first)).join('\n');
}

/** Merge patch that changes one document into the other: null removes. */
function patchBetween(before: Document, after: Document): Document {
  const patch: Document = {};
  for (const name of Object.keys(before)) if (!(name in after) || after[name] === null) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const old = before[name];
    if (value === null || isDeepStrictEqual(value, old)) continue;
    patch[name] = isDocument(old) && isDocument(value) ? patchBetween(old, value) : value;
  }
  return patch;
}

/** As git and crontab do: the words of the variable, then the file. */
async function openEditor(file: string, { environment }: Io): Promise<void> {
  const editor = environment['VISUAL'] || environment['EDITOR'] || 'vi';
  // Ctrl-C in the editor is the editor's.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, editor, file], { stdio: 'inherit' });
  const code = await new Promise<number | null>((done, reject) => {
    child.once('error', reject);
    child.once('exit', done);
  }).finally(() => process.removeListener('SIGINT', ignore));
  if (code !== 0) throw usageError(`the editor "${editor}" failed (${code ?? 'signal'})`);
}
