// The process of a drill that was begun over the API: it may hang on a dead share, and a library that reads a token or a store may crash.
//
// A token and a store are read by libraries in C. An archive that somebody else made could attack them, therefore only what this appliance
// has signed is restored here; of anything else it is said what is in it, which needs no such library.
import { createReadStream, rmSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createPublicKey } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { auditKeyId, splitPublicKeys } from '../../core/audit/keys.ts';
import { defined } from '../../core/base/defined.ts';
import { Secret } from '../../core/base/secret.ts';
import { terminalLog } from '../../core/log/terminal.ts';
import { BackupError } from '../backup/format/error.ts';
import { parseIdentities } from '../backup/format/recipients.ts';
import type { Opening } from '../backup/format/age.ts';
import type { Contents } from '../backup/format/manifest.ts';
import { readBackup } from '../backup/read.ts';
import { requireBackupFile, requireFitting } from '../backup/restore.ts';
import { loadConfiguration } from '../configuration.ts';
import { readCeremonies } from '../custodians/ceremony.ts';
import { StartRefused } from '../start-refused.ts';
import { runDrill, trailNote } from './drill.ts';
import { hasRoomFor } from '../backup/drills/upload.ts';
import { backupName, type DrillOrders, drillOrders, type DrillSays, type Looked, type StoredFile } from '../backup/drills/orders.ts';

type Proving = Extract<DrillOrders, { file: string }>;

const mostFiles = 200;
const mostSaid = 50;
const longestSaid = 400;

const orders = drillOrders.parse(JSON.parse(await text(process.stdin)));
// The appliance was stopped or killed: nobody waits for the answer, and nobody else removes what may hold PINs.
const leave = (): never => {
  if ('scratch' in orders) rmSync(orders.scratch, { recursive: true, force: true });
  process.exit(1);
};
if (!process.connected) leave();
process.once('disconnect', leave);
await say({ ...(await attempt(orders)), done: true });
process.exit(0);

async function attempt(given: DrillOrders): Promise<DrillSays> {
  try {
    if (given.kind === 'list') return { files: await listBackups(given.directories) };
    await proveBackup(given);
    return {};
  } catch (error) {
    return { problem: inWordsOfApi(error) };
  }
}

function say(what: DrillSays): Promise<void> {
  return new Promise((resolve) => process.send?.(what, () => resolve()));
}

/** The newest first. A directory that cannot be read stops the list: an empty one would say that there are no backups. */
async function listBackups(directories: readonly string[]): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  for (const directory of directories) {
    for (const name of (await readdir(directory)).filter((one) => backupName.test(one))) {
      const found = await stat(join(directory, name));
      if (found.isFile()) files.push({ file: join(directory, name), bytes: found.size, modifiedAt: found.mtime.toISOString() });
    }
  }
  return files.toSorted((one, other) => (one.modifiedAt < other.modifiedAt ? 1 : -1)).slice(0, mostFiles);
}

async function proveBackup(given: Proving): Promise<void> {
  const configuration = loadConfiguration([...process.argv.slice(2), '--data', given.scratch]);
  const tokens = configuration.hsm.tokens.map(({ name, group }) => group ?? name);
  await say({ stage: 'reading' });
  const looked = await look(given, tokens);
  await say({ looked });
  if (given.kind === 'look' || looked.signedBy !== 'this-appliance' || looked.unfit !== undefined) return;
  // Store and audit trail are on the same disk, and need what is left.
  if (!(await hasRoomFor(given.scratch, looked.bytes)))
    throw new StartRefused(
      'the disk has no room to restore this backup for trial: make room, or run `keystored restore-drill` on another machine',
    );
  await say({ stage: 'proving' });
  const { findings, notes, keys } = await runDrill({
    ...{ configuration, file: given.file, auditDirectories: [], log: terminalLog, say: () => undefined },
    ...{ opening: () => openingOf(given), trusted: () => given.ownKeys },
    pins: () => Promise.resolve(pinsOf(given)),
  });
  const told = (all: typeof findings) =>
    all.slice(0, mostSaid).map(({ where, problem }) => ({ where: where.slice(0, longestSaid), problem: problem.slice(0, longestSaid) }));
  // That the trail is not part of a backup is so each time; who has a copy verifies it at the machine.
  const other = notes.filter(({ where }) => where !== trailNote);
  await say({ proven: { keys, findings: told(findings), findingCount: findings.length, notes: told(other) } });
}

/** Reads all of it, and keeps nothing. */
async function look(given: Proving, configured: readonly string[]): Promise<Looked> {
  requireBackupFile(given.file);
  let contents: Contents | undefined;
  let [files, bytes] = [0, 0];
  const file = createReadStream(given.file, { highWaterMark: 1 << 20 });
  const read = await readBackup(file, await openingOf(given), undefined, {
    begin: (told) => void (contents = told),
    file() {
      files++;
      return { write: (part) => void (bytes += part.length), close: () => undefined };
    },
  });
  const keyId = 'keyId' in read.origin ? read.origin.keyId : undefined;
  const own = new Set(splitPublicKeys(given.ownKeys).map((pem) => auditKeyId(createPublicKey(pem))));
  const { madeAt, madeBy, version, records, digest: manifest } = read;
  return {
    signedBy: keyId === undefined ? 'nobody' : own.has(keyId) ? 'this-appliance' : 'another',
    ...defined({ keyId, madeAt, madeBy, version, records, manifest, unfit: contents && unfitness(contents, configured) }),
    ...{ embedded: contents?.embedded ?? true, tokens: contents?.tokens.map(({ name }) => name) ?? [], files, bytes },
  };
}

function unfitness(contents: Contents, configured: readonly string[]): string | undefined {
  try {
    requireFitting(contents, configured);
    return undefined;
  } catch (error) {
    return inWordsOfApi(error);
  }
}

async function openingOf({ passphrase, identity }: Proving): Promise<Opening> {
  if (identity !== undefined) return { identities: await parseIdentities(identity, 'the identity') };
  return { passphrase: new Secret(passphrase ?? '') };
}

/** In a directory of a drill are the custodians of the backup. */
function pinsOf({ pin, scratch }: Proving) {
  if (pin !== undefined) return { pin: new Secret(pin) };
  if (readCeremonies(scratch).length === 0) return undefined;
  throw new StartRefused(
    'the PIN is among custodians, whose shares no browser takes: run `keystored restore-drill` on a machine with --share FILE of enough of them',
  );
}

/** The options of a restore are not those of the API. */
function inWordsOfApi(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  const isKnown = error instanceof StartRefused || error instanceof BackupError;
  const sentence = isKnown || code === undefined ? message : `${code}: ${message}`;
  return sentence.replace(/^--restore(?: \S+)?: /, '').slice(0, longestSaid);
}
