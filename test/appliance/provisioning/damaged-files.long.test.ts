// Each file of the data directory, damaged in each way: a start heals it or is refused with its path and what helps; it founds nothing and loses nothing.
import { spawnSync } from 'node:child_process';
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
import { startDaemon } from '../../harness/daemon.ts';
import { contentsOf, startAndEnd } from '../../harness/refused-start.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const service = 4_646;
const isRoot = process.getuid?.() === 0;

/** By what they are; a name with a star is that of the first file that fits. */
const files = [
  ...['store/data.mdb', 'store-key.json', 'lock', 'pin'],
  ...['softhsm', 'softhsm.conf', 'softhsm/*/generation', 'softhsm/start.lock'],
  ...['audit/worker-1.*.jsonl', 'audit/audit-keys.pem', 'tls', 'tls/ca.pem'],
] as const;

type Place = { readonly file: string; readonly earlier: string; readonly foreign: string };
const overwrite = (file: string, change: (octets: Buffer) => Uint8Array): void =>
  isDirectory(file) ? undefined : writeFileSync(file, change(readFileSync(file)));
const replace = (from: string, to: string): void => {
  rmSync(to, { recursive: true, force: true });
  if (existsSync(from)) cpSync(from, to, { recursive: true });
};
const damages: Readonly<Record<string, (place: Place) => void>> = {
  missing: ({ file }) => rmSync(file, { recursive: true }),
  empty: ({ file }) => (isDirectory(file) ? (rmSync(file, { recursive: true }), mkdirSync(file)) : truncateSync(file)),
  'cut off': ({ file }) => overwrite(file, (octets) => octets.subarray(0, Math.floor(octets.length / 2))),
  'half zeros': ({ file }) => overwrite(file, (octets) => octets.fill(0, Math.floor(octets.length / 2))),
  'other octets': ({ file }) => overwrite(file, (octets) => octets.map((octet, at) => (octet * 31 + at * 7 + 13) & 0xff)),
  'full of line ends': ({ file }) => overwrite(file, (octets) => octets.fill(10)),
  'a directory in its place': ({ file }) => (rmSync(file, { recursive: true }), mkdirSync(join(file, 'inner'), { recursive: true })),
  'a file in its place': ({ file }) => (rmSync(file, { recursive: true }), writeFileSync(file, 'something else')),
  'a link to nowhere': ({ file }) => (rmSync(file, { recursive: true }), symlinkSync('/nowhere/at/all', file)),
  'mode 0000': ({ file }) => chmodSync(file, 0),
  'mode 0400': ({ file }) => chmodSync(file, 0o400),
  'of another owner': ({ file }) => (chownSync(file, 0, 0), chmodSync(file, 0o600)),
  'an earlier copy': ({ file, earlier }) => replace(earlier, file),
  'of another appliance': ({ file, foreign }) => replace(foreign, file),
};

function isDirectory(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

function find(directory: string, pattern: string): string {
  return pattern.split('/').reduce((at, part) => {
    const fits = new RegExp(`^${part.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    const names = part.includes('*') ? readdirSync(join(directory, at)).filter((name) => fits.test(name)) : [part];
    const wanted = pattern.endsWith(part) && part !== '*' ? names.filter((name) => name !== 'token.object' || part === name) : names;
    return join(at, wanted.toSorted()[0] ?? 'absent');
  }, '');
}

function own(directory: string): void {
  spawnSync('chown', ['-Rh', `${service}:${service}`, directory]);
}

beforeAll(async () => {
  // The service's user goes through the directories above.
  if (isRoot) for (let at = dirname(path('x')); at !== '/tmp' && at !== '/'; at = dirname(at)) chmodSync(at, 0o755);
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
const chosen = files.filter((file) => new RegExp(process.env['DAMAGED_FILES'] ?? '').test(file));

test.skipIf(!isRoot).each(chosen.map((file) => ({ file })))(
  '$file, damaged in each way, is healed or named with what helps',
  { timeout: 900_000 },
  async ({ file }) => {
    const wrong: string[] = [];
    let number = 0;
    const tryOne = async (how: string): Promise<void> => {
      const data = path(`${file.replaceAll(/[/*]/g, '-')}-${++number}`);
      spawnSync('cp', ['-a', path('whole'), data]);
      own(data);
      const at = find(data, file);
      damages[how]?.({
        file: join(data, at),
        earlier: join(path('earlier'), at),
        foreign: join(path('foreign'), find(path('foreign'), file)),
      });
      if (!how.startsWith('of another owner') && existsSync(join(data, at))) chownSync(join(data, at), service, service);
      const before = contentsOf(data, (name) => isWritten(name) || name === at || name.startsWith(`${at}/`));
      const { status, last, stderr } = await startAndEnd(data, { uid: service });
      const after = contentsOf(data, (name) => isWritten(name) || name === at || name.startsWith(`${at}/`));
      const say = (what: string): void => void wrong.push(`${file} ${how}: ${what}`);
      if (status !== 0 && status !== 1) say(`ended with ${status}: ${last}`);
      if (status === 1 && !last.includes(data)) say(`names no path: ${last}`);
      if (/\n\s+at |is above|examine the disk and the messages/.test(stderr)) say(`is no refusal: ${stderr.slice(-300)}`);
      if (/SIG[A-Z]+/.test(stderr)) say(`ended a process: ${last}`);
      if (stderr.includes('made the tenant') || stderr.includes('making the embedded token')) say('founded an appliance');
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
        if (before[name] !== after[name]) say(`${name} is ${after[name]}`);
      rmSync(data, { recursive: true, force: true });
    };
    const left = Object.keys(damages);
    await Promise.all(
      [1, 2].map(async () => {
        for (let how = left.shift(); how !== undefined; how = left.shift()) await tryOne(how);
      }),
    );
    expect(wrong).toEqual([]);
  },
);
