// gpg: signs with a key of the appliance where a program asks gpg for a signature, and hands everything else on to the real gpg.
import { spawn } from 'node:child_process';
import { createReadStream, existsSync, openSync, readSync, closeSync, writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { signOpenpgp } from '../../clients/typescript/src/openpgp/signing.ts';
import { Client } from '../client.ts';
import type { ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { commandFor, helpEnd } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, OtherProgramFailed, usageError } from '../terminal/failure.ts';
import { beginFile } from '../terminal/files.ts';
import { type Io, readOctets } from '../terminal/io.ts';
import { type GpgSigning, readGpgWords } from './gpg-words.ts';
import { askKey, findSigningKey, packetAt } from './signing-key.ts';

const description =
  'Sign with an OpenPGP key of the appliance where the words of gpg ask for a signature (--sign, --detach-sign, --clear-sign). Everything ' +
  'else, such as --verify, the real gpg does. A key (-u) is the name of a transit key, or its fingerprint, key ID or User ID.';

const more = `
Programs take one path for gpg: make a script of two lines,
  #!/bin/sh
  exec keystorectl gpg "$@"
and name it in gpg.program of git, %__gpg of rpm, or with -p of debsign.

Environment:
  KEYSTORED_GPG_KEY  the key where no -u names one
  KEYSTORED_GPG      path of the real gpg`;

/** The largest data that one request takes; larger data is hashed here. */
const wholeBytes = 32 * 1024 * 1024;

/** `gpg WORDS…`. Throws CommandFailed; its code is that of the real gpg where that one ran. */
export async function runGpg(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  if (words.length === 1 && words[0] === '--help') return showHelp(io);
  const signing = readGpgWords(words);
  if (signing === undefined) return handOn(words, io);
  const status = statusWriter(signing.statusFd, io);
  const client = new Client(await resolveConnection(before, io));
  try {
    const given = signing.key ?? io.environment['KEYSTORED_GPG_KEY'];
    if (given === undefined || given === '') throw usageError('no key is named: give -u NAME, or set KEYSTORED_GPG_KEY');
    const target = targetOf(signing);
    if (target !== '-' && !signing.overwrites && existsSync(target) && (await stat(target)).isFile())
      throw usageError(`${target} is there already: give --yes to write over it`);
    // git looks for the line of the signature behind another one.
    status('BEGIN_SIGNING');
    const made = await sign(client, signing, given, io);
    const out = beginFile(target, io, false);
    try {
      await out.write(made.octets);
      out.finish();
    } finally {
      out.abandon();
    }
    status(`SIG_CREATED ${created(signing, made.packet)}`);
  } catch (error) {
    if (error instanceof CommandFailed) status(`FAILURE sign ${error.exitCode}`);
    throw error;
  } finally {
    client.close();
  }
}

async function showHelp(io: Io): Promise<void> {
  const command = commandFor(io, 'keystorectl gpg').description(description).argument('[words...]', 'words of gpg');
  await command.helpOption('--help', 'show this').addHelpText('after', helpEnd(more, io)).parseAsync(['--help'], { from: 'user' });
}

type Made = { readonly octets: Uint8Array; readonly packet: Buffer };

async function sign(client: Client, { form, armored, file }: GpgSigning, given: string, io: Io): Promise<Made> {
  const { name, version } = await findSigningKey(client, given);
  const ask = askKey(client, name);
  const bytes = file === undefined ? undefined : await sizeOf(file);
  const format = armored ? 'armored' : 'binary';
  let answer: string;
  if (form === 'detached' && bytes !== undefined && bytes > wholeBytes) {
    answer = await signOpenpgp(createReadStream(file ?? '', { highWaterMark: 1 << 20 }), ask, { 'key-version': version }, format);
  } else {
    const data = file === undefined ? await buffer(io.stdin) : await readOctets(file, io);
    const body = { text: data.toString('base64'), form, 'key-version': version, ...(form === 'cleartext' ? {} : { format }) };
    answer = String((await ask('openpgp-sign', body))['signature']);
  }
  const octets = armored ? Buffer.from(answer) : Buffer.from(answer, 'base64');
  return { octets, packet: lastPacket(armored ? unarmored(answer) : octets) };
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`${file} cannot be read (${error.code ?? String(error)})`);
  });
  return found.size;
}

/** Names of results as gpg makes them. */
function targetOf({ output, file, form, armored }: GpgSigning): string {
  if (output !== undefined) return output;
  if (file === undefined) return '-';
  if (armored) return `${file}.asc`;
  return `${file}${form === 'message' ? '.gpg' : '.sig'}`;
}

function unarmored(text: string): Buffer {
  const at = text.lastIndexOf('-----BEGIN PGP ');
  return Buffer.from(/\n\n([\s\S]*?)\n=/.exec(text.slice(at))?.[1] ?? '', 'base64');
}

/** The signature is the last packet, also of a message. */
function lastPacket(octets: Buffer): Buffer {
  for (let rest = octets; ;) {
    const { start, end } = packetAt(rest);
    if (end >= rest.length) return rest.subarray(start);
    rest = rest.subarray(end);
  }
}

/** `TYPE ALGORITHM HASH CLASS TIME FINGERPRINT` of SIG_CREATED (GnuPG, doc/DETAILS). Places as in the hashed part that the service writes. */
function created({ form }: GpgSigning, packet: Buffer): string {
  const kind = form === 'cleartext' ? 'C' : form === 'message' ? 'S' : 'D';
  const [, type = 0, algorithm = 0, hash = 0] = packet;
  const fingerprint = packet.subarray(15, 35).toString('hex').toUpperCase();
  return `${kind} ${algorithm} ${hash} ${type.toString(16).padStart(2, '0')} ${packet.readUInt32BE(8)} ${fingerprint}`;
}

/** Writes lines for programs: to standard output or error through their streams, and to any other file by its number. */
function statusWriter(fd: number | undefined, io: Io): (line: string) => void {
  return (line) => {
    const text = `[GNUPG:] ${line}\n`;
    if (fd === 1) io.stdout.write(text);
    else if (fd === 2) io.stderr.write(text);
    else if (fd !== undefined) writeSync(fd, text);
  };
}

/** Runs the real gpg with the same words, files and streams. */
async function handOn(words: readonly string[], io: Io): Promise<void> {
  const program = realGpg(io);
  const child = spawn(program, words, { stdio: 'inherit', env: { ...io.environment, KEYSTORED_GPG: program } });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((done, failed) => {
    child.on('error', (error) => failed(new CommandFailed(exitCodes.usage, `${program} cannot be run: ${error.message}`)));
    child.on('exit', (...end) => done(end));
  });
  const exit = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  if (exit !== 0) throw new OtherProgramFailed(exit);
}

/** The first gpg on the path, scripts left out: a script of that name is what leads here. */
function realGpg({ environment }: Io): string {
  const set = environment['KEYSTORED_GPG'];
  if (set !== undefined && set !== '') return set;
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders.map((folder) => join(folder, 'gpg')).find((path) => existsSync(path) && !isScript(path));
  if (found !== undefined) return found;
  throw usageError('gpg is not installed, and this is not a signature: install it, or set KEYSTORED_GPG to its path');
}

function isScript(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(2);
    readSync(file, start, 0, 2, 0);
    return start.toString() === '#!';
  } finally {
    closeSync(file);
  }
}
