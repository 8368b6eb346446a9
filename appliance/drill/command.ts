// keystored restore-drill FILE: a drill in a temporary directory that nothing else uses, and its report. Exit code 1 for any finding.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { terminalLog } from '../../core/log/terminal.ts';
import { Secret } from '../../core/base/secret.ts';
import { StartError } from '../../core/plugin/registry.ts';
import { keysOfFiles } from '../backup/restore.ts';
import { loadConfiguration } from '../configuration.ts';
import { namesOf, openByShares, wordsOfAct } from '../custodians/agreed.ts';
import { readCeremonies } from '../custodians/ceremony.ts';
import { StartRefused } from '../start-refused.ts';
import type { GivenPins } from '../tokens/hsm-config.ts';
import { runDrill } from './drill.ts';

const usage = `Usage: keystored restore-drill FILE (--identity-file FILE | --passphrase-file FILE) [options]

Restores a backup into a fresh temporary directory, opens every record and every key, and says whether it would work.
The appliance that serves is not touched: no listener is opened, no data directory is used, nothing in a token is changed.

  --identity-file FILE    age identities that open the backup; mode 0600
  --passphrase-file FILE  the passphrase that opens the backup
  --audit-keys FILE       audit-keys.pem of the appliance, kept elsewhere: proves who made the backup
  --audit DIR             a copy of the audit trail: it must contain the signed heads that the backup remembers; of a
                          cluster given again for the trail of each appliance
  --config FILE           the configuration of the appliance, for its tokens
  --pin-file FILE         the PIN of the tokens, where the backup and the configuration have none
  --share FILE            of each custodian: the share, and in the line below the six words that are shown without it
  --work DIR              where the temporary directory is made; default: the directory for temporary files

Exit code: 0 it restores, 1 something was found, 2 it does not restore or cannot be tried.`;

const options = {
  'identity-file': { type: 'string' },
  'passphrase-file': { type: 'string' },
  'audit-keys': { type: 'string' },
  audit: { type: 'string', multiple: true },
  config: { type: 'string' },
  'pin-file': { type: 'string' },
  share: { type: 'string', multiple: true },
  work: { type: 'string' },
  help: { type: 'boolean' },
} as const;

/** Runs the command with the words after its name; resolves with the exit code. */
export async function runDrillCommand(words: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    if (values.help === true) return say(usage, 0);
    const [file, ...others] = positionals;
    if (file === undefined || others.length > 0) return complain(usage);
    return await inTemporaryDirectory(values.work ?? tmpdir(), (directory) => drill(file, values, directory));
  } catch (error) {
    const isExpected = error instanceof StartRefused || error instanceof StartError || 'code' in (error as object);
    if (!isExpected) throw error;
    return complain(`keystored: ${inWordsOfDrill((error as Error).message)}`);
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>['values'];

async function drill(file: string, values: Values, directory: string): Promise<number> {
  const beganMs = performance.now();
  const { findings, notes } = await runDrill({
    configuration: loadConfiguration(['--data', directory, ...(values.config === undefined ? [] : ['--config', values.config])]),
    file,
    ...keysOfFiles({
      ...{ identityFile: values['identity-file'], passphraseFile: values['passphrase-file'], auditKeysFile: values['audit-keys'] },
    }),
    ...{ auditDirectories: values.audit ?? [], pins: () => givenPins(directory, values) },
    log: terminalLog,
    say: (line) => console.log(inWordsOfDrill(line)),
  });
  for (const { where, problem } of notes) console.log(`note: ${where}: ${problem}`);
  for (const { where, problem } of findings) console.log(`FOUND: ${where}: ${problem}`);
  const minutes = ((performance.now() - beganMs) / 60_000).toFixed(1);
  const verdict = findings.length === 0 ? 'this backup restores' : `this backup does not restore as it should: ${findings.length} found`;
  return say(`${verdict} (${minutes} minutes)`, findings.length === 0 ? 0 : 1);
}

/** Of a person or of custodians; undefined where backup or configuration have it. */
async function givenPins(directory: string, { share, 'pin-file': file }: Values): Promise<GivenPins | undefined> {
  if (file !== undefined) return { pin: new Secret(readFileSync(file, 'utf8').replace(/\r?\n$/, '')) };
  const ceremonies = readCeremonies(directory);
  if (ceremonies.length === 0 && share === undefined) return undefined;
  const act = { act: 'restore-drill', of: namesOf(ceremonies) };
  if (share !== undefined) return { pins: (await openByShares(directory, share, act)).pins };
  throw new StartRefused(
    `there are custodians: have enough of them write their share into a file, with "${wordsOfAct(act)}" in the line below, and give each as --share`,
  );
}

/** The options of a drill are those of a restore, without that word. */
function inWordsOfDrill(message: string): string {
  return message.replaceAll(/--restore-/g, '--').replace(/^--restore/, 'the drill');
}

const prefix = 'keystored-drill-';

/** The directory holds PINs and keys: it is removed at the end, after a signal too, and by the next drill if this one is killed. */
async function inTemporaryDirectory(parent: string, run: (directory: string) => Promise<number>): Promise<number> {
  sweep(parent);
  const directory = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const [signal, code] of Object.entries(signals)) {
    process.once(signal, () => {
      remove();
      process.exit(code);
    });
  }
  try {
    return await run(directory);
  } finally {
    remove();
  }
}

/** Removes the leftovers of killed drills. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || isRunning(pid) || statSync(join(parent, name)).uid !== process.getuid?.()) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function say(text: string, code: number): number {
  console.log(text);
  return code;
}

function complain(text: string): number {
  console.error(text);
  return 2;
}
