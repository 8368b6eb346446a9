// audit verify: checks a copy of the audit trail offline, record by record and against the signed heads.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { auditKeyId, splitPublicKeys } from '../../core/audit-keys.ts';
import { verifyTrail } from '../../core/audit-verify.ts';
import { outputOf } from './command-output.ts';
import { CommandFailed, exitCodes, usageError } from './failure.ts';
import { writeAll } from './files.ts';
import type { Io } from './io.ts';
import { formats, formatValue, usualFormat, type Format } from './output.ts';

/** `audit verify DIR [--keys FILE]`. Exit code 7 when anything is wrong. */
export async function runAudit(words: readonly string[], io: Io): Promise<void> {
  const audit = new Command('keystorectl audit').description('Check audit trails.').exitOverride().configureOutput(outputOf(io));
  audit
    .command('verify')
    .description('find every flipped, dropped, reordered or cut-off record of an audit trail')
    .argument('<directory>', 'the audit trail, or a copy of it')
    .addOption(new Option('--keys <FILE>', 'public keys that may have signed, PEM (default: audit-keys.pem beside or in the directory)'))
    .addOption(new Option('--output <FORMAT>', 'default: yaml on a terminal, else json').choices(formats))
    .exitOverride()
    .action((directory: string, options: { keys?: string; output?: Format }) => verifyDirectory(directory, options, io));
  await audit.parseAsync([...words], { from: 'user' });
}

async function verifyDirectory(directory: string, { keys, output }: { keys?: string; output?: Format }, io: Io): Promise<void> {
  if (!existsSync(directory) || !statSync(directory).isDirectory()) throw usageError(`${directory} is not a directory`);
  const file = keys ?? [join(directory, 'audit-keys.pem'), join(directory, '..', 'audit-keys.pem')].find((path) => existsSync(path));
  const verification = await verifyTrail(directory, file === undefined ? new Map() : readKeys(file));
  const { records, chains, signedHeads, lastSigned, notes, findings } = verification;
  const report = {
    records,
    chains: chains.map(({ signedThrough, ...chain }) => ({ ...chain, 'signed-through': signedThrough })),
    'signed-heads': signedHeads,
    ...(lastSigned === undefined ? {} : { 'last-signed': lastSigned }),
    notes: notes.length,
    findings,
  };
  await writeAll(io, formatValue(report, output ?? usualFormat(io), io.stdout.columns));
  if (signedHeads === 0) io.stderr.write('keystorectl: no signed head was checked: records cut off at the end would not be noticed\n');
  if (findings.length > 0) throw new CommandFailed(exitCodes.no, `${findings.length} findings: this trail is not what was written`);
}

function readKeys(file: string): ReadonlyMap<string, KeyObject> {
  try {
    return new Map(splitPublicKeys(readFileSync(file, 'utf8')).map((pem) => [auditKeyId(createPublicKey(pem)), createPublicKey(pem)]));
  } catch (error) {
    throw usageError(`${file} is not a file of public keys in PEM (${error instanceof Error ? error.message : String(error)})`);
  }
}
