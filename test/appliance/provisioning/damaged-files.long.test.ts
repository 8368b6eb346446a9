// Each file of the data directory, damaged in each way: a start heals it or is refused with its path and what helps; it founds nothing and loses nothing.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PageFile } from '../../../core/store/files/pages.ts';
import { provideService } from '../../../appliance/packaging/service/provide.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { contentsOf, startAndEnd } from '../../harness/refused-start.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const service = 4_646;
const isRoot = process.getuid?.() === 0;
/** The bundle: another user has no cache of compiled code, without which a start from the sources takes more than twice as long. */
let program: string;

/** By what they are; a name with a star is that of the first file that fits. */
const lasting = [
  ...['store', 'store/data.mdb', 'store/lock.mdb', 'store-key.json', 'lock', 'pin', 'so-pin', 'root-token'],
  ...['softhsm', 'softhsm.conf', 'softhsm/*-*', 'softhsm/*-*/generation', 'softhsm/*-*/token.object', 'softhsm/*-*/token.lock'],
  ...['softhsm/*-*/*-*.object', 'softhsm/*-*/*-*.lock', 'softhsm/*.token.copy', 'softhsm/start.lock'],
  ...['audit', 'audit/worker-1.*.jsonl', 'audit/audit-keys.pem', 'logs', 'logs/worker-1.*.jsonl', 'tls', 'tls/ca.pem'],
];
const passing = [
  'founding',
  'restored',
  'restoring',
  'audit/restored',
  'pin.new',
  'recovering.json',
  'unseal-code',
  'tls/sealed-identity.json',
];
const files = [...lasting, ...passing];

type Place = { readonly file: string; readonly earlier: string; readonly foreign: string };
const overwrite = (file: string, change: (octets: Buffer) => Uint8Array): void =>
  isDirectory(file) ? undefined : writeFileSync(file, change(readFileSync(file)));
const replace = (from: string, to: string): void => {
  rmSync(to, { recursive: true, force: true });
  if (existsSync(from)) cpSync(from, to, { recursive: true });
};
const pageBytes = 4_096;
/** The root of the records: every start reads it. */
function overwritePage(file: string, octets: (number: number) => Uint8Array): void {
  const pages = new PageFile(file);
  const root = pages.meta()?.main.root ?? 0;
  pages.close();
  overwrite(file, (whole) => Buffer.concat([whole.subarray(0, root * pageBytes), octets(root), whole.subarray((root + 1) * pageBytes)]));
}
const damages: Readonly<Record<string, (place: Place) => void>> = {
  missing: ({ file }) => rmSync(file, { recursive: true }),
  empty: ({ file }) => (isDirectory(file) ? (rmSync(file, { recursive: true }), mkdirSync(file)) : truncateSync(file)),
  'cut off': ({ file }) => overwrite(file, (octets) => octets.subarray(0, Math.floor(octets.length / 2))),
  'half zeros': ({ file }) => overwrite(file, (octets) => octets.fill(0, Math.floor(octets.length / 2))),
  zeros: ({ file }) => overwrite(file, (octets) => octets.fill(0)),
  'another by one bit': ({ file }) =>
    overwrite(file, (octets) => octets.map((octet, at) => (at === octets.length >> 1 ? octet ^ 4 : octet))),
  'other octets': ({ file }) => overwrite(file, (octets) => octets.map((octet, at) => (octet * 31 + at * 7 + 13) & 0xff)),
  'full of line ends': ({ file }) => overwrite(file, (octets) => octets.fill(10)),
  'a directory in its place': ({ file }) => (rmSync(file, { recursive: true }), mkdirSync(join(file, 'inner'), { recursive: true })),
  'a file in its place': ({ file }) => (rmSync(file, { recursive: true }), writeFileSync(file, 'something else')),
  'a link to nowhere': ({ file }) => (rmSync(file, { recursive: true }), symlinkSync('/nowhere/at/all', file)),
  'a FIFO in its place': ({ file }) => (
    rmSync(file, { recursive: true }),
    void spawnSync('python3', ['-c', 'import os,sys; os.mkfifo(sys.argv[1])', file])
  ),
  'mode 0000': ({ file }) => chmodSync(file, 0),
  'mode 0400': ({ file }) => chmodSync(file, 0o400),
  'of another owner': ({ file }) => (chownSync(file, 0, 0), chmodSync(file, 0o600)),
  'a page of other octets': ({ file }) => overwritePage(file, () => randomBytes(pageBytes)),
  'a page of zeros': ({ file }) => overwritePage(file, () => new Uint8Array(pageBytes)),
  'an earlier page': ({ file, earlier }) =>
    overwritePage(file, (number) => readFileSync(earlier).subarray(number * pageBytes, (number + 1) * pageBytes)),
  'an earlier copy': ({ file, earlier }) => replace(earlier, file),
  'of another appliance': ({ file, foreign }) => replace(foreign, file),
};

/** Those that root meets as another: no rights keep it from a file. */
const ofRoot = /^(?:a |of another owner|mode)/;
/** What is there for moments only has no earlier copy and no content that a start needs. */
const ofMoments = /^(?:a |other octets|mode)/;

function isDirectory(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

function find(directory: string, pattern: string): string {
  return pattern.split('/').reduce((at, part) => {
    const fits = new RegExp(`^${part.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    const isFolder = pattern !== join(at, part) && !pattern.endsWith(`/${part}`);
    const names = readdirSync(join(directory, at), { withFileTypes: true }).filter(
      (entry) => fits.test(entry.name) && (!isFolder || entry.isDirectory()),
    );
    // What is not there is put there.
    return join(at, names.map(({ name }) => name).toSorted()[0] ?? part.replaceAll('*', 'x'));
  }, '');
}

function own(directory: string): void {
  spawnSync('chown', ['-Rh', `${service}:${service}`, directory]);
}

beforeAll(async () => {
  // The service's user goes through the directories above.
  if (isRoot) for (let at = dirname(path('x')); at !== '/tmp' && at !== '/'; at = dirname(at)) chmodSync(at, 0o755);
  program = await provideService();
  const first = await startDaemon({ directory: path('earlier'), firstStart: true });
  await first.stop();
  cpSync(path('earlier'), path('whole'), { recursive: true });
  const later = await startDaemon({ directory: path('whole') });
  await later.request('POST', '/v1/config/keystore/transit-keys', { name: 'orders' });
  await later.stop();
  const foreign = await startDaemon({ directory: path('foreign'), firstStart: true });
  await foreign.stop();
}, 180_000);

/** What is changed by every start that comes so far. */
const isWritten = (name: string): boolean => /^(?:logs|audit|lock|softhsm|store|tls)(?:\/|$)|softhsm\.conf$|\.probe/.test(name);
const { DAMAGED_FILES: asked } = process.env;
const chosen = files.filter((file) => new RegExp(asked ?? '').test(file));
/** The whole table takes twenty minutes: unless files are asked for (DAMAGED_FILES=. for all), each has every fifth damage, the next one another. */
const isTried = (file: string, at: number): boolean => asked !== undefined || (at + files.indexOf(file)) % 5 === 0;

async function tryOne(file: string, how: string, data: string, uid: number | undefined): Promise<readonly string[]> {
  spawnSync('cp', ['-a', path('whole'), data]);
  if (uid !== undefined) own(data);
  const at = find(data, file);
  if (lstatSync(join(data, at), { throwIfNoEntry: false }) === undefined)
    writeFileSync(join(data, at), 'what is in such a file', { mode: 0o600 });
  damages[how]?.({
    file: join(data, at),
    earlier: join(path('earlier'), at),
    foreign: join(path('foreign'), find(path('foreign'), file)),
  });
  if (uid !== undefined && how !== 'of another owner') spawnSync('chown', ['-Rh', `${uid}:${uid}`, join(data, at)]);
  const isLeftOut = (name: string): boolean => isWritten(name) || name === at || name.startsWith(`${at}/`);
  const before = contentsOf(data, isLeftOut);
  const { status, last, stderr } = await startAndEnd(data, { program, ...(uid === undefined ? {} : { uid }) });
  const after = contentsOf(data, isLeftOut);
  const wrong: string[] = [];
  const say = (what: string): void => void wrong.push(`${file} ${how}${uid === undefined ? ' (root)' : ''}: ${what}`);
  if (status !== 0 && status !== 1) say(`ended with ${status}: ${last}`);
  if (status === 1 && !last.includes(data)) say(`names no path: ${last}`);
  if (/\n\s+at |is above|examine the disk and the messages/.test(stderr)) say(`is no refusal: ${stderr.slice(-300)}`);
  if (/SIG[A-Z]+/.test(stderr)) say(`ended a process: ${last}`);
  if (stderr.includes('made the tenant') || stderr.includes('making the embedded token')) say('founded an appliance');
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    if (before[name] !== after[name]) say(`${name} is ${after[name]}`);
  rmSync(data, { recursive: true, force: true });
  return wrong;
}

test.each(chosen.map((file) => ({ file })))(
  '$file, damaged in each way, is healed or named with what helps',
  { timeout: 900_000 },
  async ({ file }) => {
    const ways = Object.keys(damages)
      .filter((how) => lasting.includes(file) || ofMoments.test(how))
      .filter((how) => file === 'store/data.mdb' || !how.includes(' page'));
    const left = ways
      .flatMap((how) => [
        ...(how === 'of another owner' && !isRoot ? [] : [{ how, uid: isRoot ? service : undefined }]),
        ...(isRoot && ofRoot.test(how) ? [{ how, uid: undefined }] : []),
      ])
      .filter((_, at) => isTried(file, at));
    const wrong: string[] = [];
    let number = 0;
    await Promise.all(
      [1, 2].map(async () => {
        for (let one = left.shift(); one !== undefined; one = left.shift())
          wrong.push(...(await tryOne(file, one.how, path(`${file.replaceAll(/[/*]/g, '-')}-${++number}`), one.uid)));
      }),
    );
    expect(wrong).toEqual([]);
  },
);

test.each([
  ['store and store key', ['store', 'store-key.json'], /softhsm and .*store-key\.json are of different appliances.*from the same backup/],
  ['token and PIN', ['softhsm', 'pin', 'so-pin'], /softhsm and .*store-key\.json are of different appliances.*from the same backup/],
])('%s of another appliance are named as what they are', { timeout: 60_000 }, async (what, names, says) => {
  const data = path(`mixed-${what.replaceAll(' ', '-')}`);
  spawnSync('cp', ['-a', path('whole'), data]);
  for (const name of names) replace(path('foreign', name), join(data, name));
  const before = contentsOf(data, isWritten);
  const { status, last } = await startAndEnd(data);
  expect(last).toMatch(says);
  expect([status, contentsOf(data, isWritten)]).toEqual([1, before]);
});
