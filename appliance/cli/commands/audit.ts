// audit verify: checks a copy of the audit trail offline, record by record and against the signed heads.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import { findUnapproved } from '../../../core/approvals/in-trail.ts';
import { defined } from '../../../core/base/defined.ts';
import type { HeadEntry } from '../../../core/audit/line.ts';
import { auditKeyId, splitPublicKeys } from '../../../core/audit/keys.ts';
import type { CheckFinding } from '../../../core/base/context.ts';
import { verifyExcerpt, verifyTrails, type Verification } from '../../../core/audit/verify.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { formats, printValue, type Format } from '../terminal/output.ts';

type Options = { readonly keys?: string; readonly heads?: string; readonly approvals?: true; readonly output?: Format };

/** `audit verify DIR... [--keys FILE] [--heads FILE]`. Exit code 7 when anything is wrong. */
export async function runAudit(words: readonly string[], io: Io): Promise<void> {
  const audit = commandFor(io, 'keystorectl audit').description('Check audit trails.');
  audit
    .command('verify')
    .description('find every flipped, dropped, reordered, added or cut-off record of an audit trail')
    .argument(
      '<directory...>',
      'the audit trail, or a copy of it; of a cluster the trail of each appliance; or one file of a time that the console has exported, with --keys',
    )
    .addOption(
      new Option(
        '--keys <FILE>',
        'public keys that may have signed: PEM, or an answer of GET /v1/state/system/audit that you kept (default: audit-keys.pem beside or in the directory, which anyone who changed the trail can have changed too)',
      ),
    )
    .addOption(
      new Option(
        '--heads <FILE>',
        'an answer of GET /v1/state/system/audit that you kept, or what custody verify prints: the trail must contain these heads',
      ),
    )
    .addOption(
      new Option(
        '--approvals',
        'find acts, too, that ran under an approval rule without the approvals that it needs; of rules whose creation is in the trail',
      ),
    )
    .addOption(new Option('-o, --output <FORMAT>', 'default: yaml on a terminal, else json').choices(formats))
    .exitOverride()
    .action(async (paths: readonly string[], options: Options) => {
      const [path = ''] = paths;
      if (paths.length === 1 && existsSync(path) && statSync(path).isFile()) await verifyFile(path, options, io);
      else await verifyDirectories(paths, options, io);
    });
  await audit.parseAsync([...words], { from: 'user' });
}

/** An excerpt has no keys beside it, and heads that were kept name records that it may not have. */
async function verifyFile(file: string, { keys, heads, approvals, output }: Options, io: Io): Promise<void> {
  if (keys === undefined) throw usageError(`${file} is an excerpt: give the keys that you kept, with --keys`);
  if (heads !== undefined || approvals === true) throw usageError('--heads and --approvals are of whole trails, not of an excerpt');
  await report(await verifyExcerpt(file, readKeys(keys)), [], output, io);
}

async function verifyDirectories(directories: readonly string[], options: Options, io: Io): Promise<void> {
  const strange = directories.find((directory) => !existsSync(directory) || !statSync(directory).isDirectory());
  if (strange !== undefined) throw usageError(`${strange} is not a directory`);
  const files = options.keys === undefined ? directories.map((directory) => publishedKeys(directory)) : [options.keys];
  const keys = new Map(files.flatMap((file) => [...readKeys(file)]));
  if (keys.size === 0) throw usageError(`${files.join(', ')} has no public key`);
  const verification = await verifyTrails(directories, keys, options.heads === undefined ? [] : readHeads(options.heads));
  const unapproved = options.approvals === true ? await findUnapproved(directories) : [];
  if (options.keys === undefined)
    io.stderr.write(
      `keystorectl: the keys are those of ${files.join(', ')}: anyone who changed the trail can have changed them too; use --keys with keys that you kept\n`,
    );
  await report(verification, unapproved, options.output, io);
}

async function report(verification: Verification, more: readonly CheckFinding[], output: Format | undefined, io: Io): Promise<void> {
  const { records, chains, signedHeads, lastSigned, notes, lost } = verification;
  const findings = [...verification.findings, ...more];
  const printed = {
    records,
    chains: chains.map(({ signedThrough, ...chain }) => ({ ...chain, 'signed-through': signedThrough })),
    'signed-heads': signedHeads,
    ...defined({ 'last-signed': lastSigned }),
    notes: notes.length,
    ...(lost.length === 0 ? {} : { lost: lost.map(({ acknowledgedAt, ...trail }) => ({ ...trail, 'acknowledged-at': acknowledgedAt })) }),
    findings,
  };
  await printValue(printed, output, io);
  if (findings.length > 0) throw new CommandFailed(exitCodes.no, `${findings.length} findings: this trail is not what was written`);
}

/** The keys that an appliance publishes with its trail: in the directory, or beside it. */
function publishedKeys(directory: string): string {
  const file = [join(directory, 'audit-keys.pem'), join(directory, '..', 'audit-keys.pem')].find((path) => existsSync(path));
  if (file === undefined)
    throw new CommandFailed(exitCodes.no, `${directory} has no audit-keys.pem: give the keys that you kept, with --keys`);
  return file;
}

const keptHeads = z.array(z.object({ chain: z.string(), sequence: z.int().min(0), hash: z.string().regex(/^[0-9a-f]{64}$/) }));

/**
 * The answer of GET /v1/state/system/audit, of which a kept copy may lack either part; or a custody statement, which has the heads in
 * `audit`.
 */
const keptAnswer = z.object({
  keys: z.array(z.object({ 'public-key': z.string() })).optional(),
  heads: keptHeads.optional(),
  audit: z.object({ heads: keptHeads }).optional(),
});

function readKeys(file: string): ReadonlyMap<string, KeyObject> {
  try {
    const text = readFileSync(file, 'utf8');
    const pem = text.trimStart().startsWith('{')
      ? keptAnswer
          .parse(JSON.parse(text))
          .keys?.map((key) => key['public-key'])
          .join('\n')
      : text;
    return new Map(splitPublicKeys(pem ?? '').map((one) => [auditKeyId(createPublicKey(one)), createPublicKey(one)]));
  } catch (error) {
    throw usageError(`${file} is not a file of public keys (${reasonOf(error)})`);
  }
}

function readHeads(file: string): readonly HeadEntry[] {
  try {
    const { audit, heads = audit?.heads ?? [] } = keptAnswer.parse(JSON.parse(readFileSync(file, 'utf8')));
    if (heads.length === 0) throw new Error('it names no heads');
    return heads;
  } catch (error) {
    throw usageError(`${file} is not an answer of GET /v1/state/system/audit (${reasonOf(error)})`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error).replaceAll('\n', ' ');
  return error instanceof Error ? error.message : String(error);
}
