// The program: global options, verbs, and the exit code of every outcome.
import { type Command, CommanderError, Option } from 'commander';
import { commandFor, helpEnd } from './terminal/command-output.ts';
import { connectionOptions, type ConnectionOptions } from './connection-options.ts';
import { colorChoices, painterFor, takeColor } from './terminal/color.ts';
import { CommandFailed, exitCodes, usageError } from './terminal/failure.ts';
import type { Io } from './terminal/io.ts';
import { otherWords, programCommands, type ProgramCommand } from './program.ts';
import { programVersion } from './version.ts';

/** Runs one command line and returns its exit code. Messages are written to standard error. */
export async function runKeystorectl(typed: readonly string[], plain: Io): Promise<number> {
  let io = plain;
  try {
    const { color, rest: words } = typed[0] === '__complete' ? { color: 'auto' as const, rest: typed } : takeColor(typed);
    io = { ...plain, color };
    if (words[0] === '__complete') await (await import('./completion.ts')).complete(words.slice(1), io);
    else if (otherWords[words[0] ?? ''] !== undefined) throw usageError(answerTo(words[0] ?? ''));
    else await program(io).parseAsync(words[0] === 'help' ? [...words.slice(1), '--help'] : [...words], { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    // Commander has printed the error; help and version are not failures.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (!(error instanceof CommandFailed)) throw error;
    if (error.message !== '') io.stderr.write(`${painterFor(io, io.stderr)('failure', 'keystorectl:')} ${error.message}\n`);
    return error.exitCode;
  }
}

/** The word of this program for one of another program. */
function answerTo(word: string): string {
  return `"${word}" is not a command here. What does it: keystorectl ${otherWords[word]}`;
}

function program(io: Io): Command {
  const root = commandFor(io)
    .description('Works with a keystored appliance: everything its API describes, and the HSM behind it.')
    .version(programVersion, '-V, --version', 'show the version')
    .helpCommand('help [words...]', 'the same as --help behind the words')
    .enablePositionalOptions()
    .addHelpText('after', helpEnd(exitCodeHelp, io));
  root.addOption(new Option('--color <WHEN>', 'colour, with every command [NO_COLOR, FORCE_COLOR] (default: auto)').choices(colorChoices));
  for (const option of connectionOptions()) root.addOption(option);
  const before = (): ConnectionOptions => root.opts<ConnectionOptions>();
  for (const one of programCommands) passThrough(root, one, (words) => one.run(words, before(), io));
  return root;
}

/** All words after the verb belong to it, `--help` included: their meaning is known only once the API description is loaded. */
function passThrough(root: Command, { name, summary, group }: ProgramCommand, run: (words: readonly string[]) => Promise<void>): void {
  root
    .command(name)
    .description(summary)
    .helpGroup(group)
    .argument('[words...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => run(words));
}

/** Meanings of the exit codes, below the help of the program. */
export const exitCodeHelp = `
Exit codes: 0 done · 1 wrong command line · 2 request refused · 3 not allowed · 4 not found · 5 state forbids it · 6 unavailable, try again · 7 done, and the answer is no · 8 fault of the appliance · 9 done, and the answer could not be written.

keystorectl VERB RESOURCE --help shows the fields of a resource and their rules.
A value @FILE is read from a file, @- from standard input.`;
