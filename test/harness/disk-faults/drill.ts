// The drill of disk faults: each system call that a request makes on the data directory fails once in turn, with each errno that a disk has.
// Every answer is a success or a refusal that says why, the next request succeeds, and nothing acknowledged is lost over a kill.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '../../fuzz/cases.ts';
import { type Daemon, startDaemon } from '../daemon.ts';
import { requireWhole } from '../kills/whole-check.ts';
import { refusalIn } from '../refusals.ts';
import { type DiskCall, diskCalls, type DiskFault, FaultyDisk } from './faulty-disk.ts';

/** What it came to: faults that struck, and the answers under them. */
export type DiskReport = { faults: number; keys: number; readonly answers: Record<string, number>; readonly calls: Record<string, number> };

/** Starts that succeeded under their fault, and the others by what they said. */
export type StartReport = { ready: number; readonly refused: Record<string, number> };

const [EIO, EMFILE, ENOSPC, EROFS] = [5, 24, 28, 30];
const fail = (...numbers: readonly number[]): Pick<DiskFault, 'kind' | 'argument'>[] =>
  numbers.map((argument) => ({ kind: 'fail', argument }));

/** What a disk answers to each call. */
const faultsOf: Readonly<Record<DiskCall, readonly Pick<DiskFault, 'kind' | 'argument'>[]>> = {
  open: fail(EMFILE, ENOSPC, EIO, EROFS),
  read: [...fail(EIO), { kind: 'half' }],
  write: [...fail(ENOSPC, EIO), { kind: 'half' }, { kind: 'wait', argument: 300 }],
  sync: [...fail(EIO, ENOSPC), { kind: 'wait', argument: 300 }],
  truncate: fail(ENOSPC, EIO),
  rename: fail(EIO, EROFS),
  unlink: fail(EIO),
  mkdir: fail(ENOSPC),
};

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const payload = Buffer.from('a value on a disk').toString('base64');
const recoverWithinMs = 60_000;
/** lmdb-js 3.5 does not survive that one of its own calls to open a file fails; the store tries before, and names what is so for longer. */
const endOfLmdb = 'lmdb-js ended the process';
const refusals: ReadonlySet<string> = new Set(['storage-unavailable', 'audit-unavailable', 'hsm-unavailable']);

type Asked = { readonly method: string; readonly path: string; readonly body?: object; readonly made?: string };

/** What is asked while a call fails; each makes another key, or uses one. */
const requests: Readonly<Record<string, () => Asked>> = {
  creation: () => {
    const made = `disk-${randomBytes(6).toString('hex')}`;
    return { method: 'POST', path: config, body: { name: made }, made };
  },
  use: () => ({ method: 'POST', path: `${state}/kept/encrypt`, body: { plaintext: payload } }),
  rotation: () => ({ method: 'POST', path: `${state}/kept/rotate`, body: {} }),
  'creation of a token': () => ({ method: 'POST', path: '/v1/state/keystore/token/create', body: {} }),
  read: () => ({ method: 'GET', path: `${state}/kept` }),
};

/** At most so many calls of a kind fail for each request: the first ones, because later ones repeat them. */
export async function drillRequests(options: { readonly directory: string; readonly mostOfAKind: number }): Promise<DiskReport> {
  const data = join(options.directory, 'data');
  mkdirSync(options.directory);
  const disk = new FaultyDisk(join(options.directory, 'table'), data);
  const report: DiskReport = { faults: 0, keys: 0, answers: {}, calls: {} };
  const daemon = await startDaemon({ directory: data, environment: await disk.environment() });
  await daemon.request('POST', config, { name: 'kept' });
  const { ciphertext } = (await daemon.request('POST', `${state}/kept/encrypt`, { plaintext: payload })) as { ciphertext: string };
  const made: string[] = [];
  for (const [name, request] of Object.entries(requests)) {
    for (const [call, seen] of await countCalls(daemon, disk, request, made)) {
      for (let before = 0; before < Math.min(seen, options.mostOfAKind); before++) {
        for (const fault of faultsOf[call]) await strike({ daemon, disk, report, made }, name, request, { call, before, ...fault });
      }
    }
  }
  await daemon.kill();
  const after = await startDaemon({ directory: data, rootToken: daemon.rootToken });
  for (const key of made) await after.request('GET', `${state}/${key}`);
  const { plaintext } = (await after.request('POST', `${state}/kept/decrypt`, { ciphertext })) as { plaintext: string };
  if (plaintext !== payload) throw new Error('the ciphertext of before does not open');
  await after.stop();
  report.keys = made.length;
  await requireWhole(data);
  return report;
}

/** How many calls of each kind the request makes when none fails. */
async function countCalls(daemon: Daemon, disk: FaultyDisk, request: () => Asked, made: string[]): Promise<ReadonlyMap<DiskCall, number>> {
  const asked = request();
  disk.arm({ call: 'mkdir', kind: 'wait', argument: 0 });
  const { status } = await daemon.exchange(asked.method, asked.path, asked.body);
  disk.disarm();
  if (status >= 400) throw new Error(`${asked.path} was refused with ${status} on a disk that works`);
  if (asked.made !== undefined) made.push(asked.made);
  return new Map(diskCalls.map((call) => [call, disk.seen(call)]));
}

type Parts = { readonly daemon: Daemon; readonly disk: FaultyDisk; readonly report: DiskReport; readonly made: string[] };

async function strike({ daemon, disk, report, made }: Parts, name: string, request: () => Asked, fault: DiskFault): Promise<void> {
  const asked = request();
  disk.arm(fault);
  const { status, body } = await daemon.exchange(asked.method, asked.path, asked.body);
  const { struck } = disk;
  disk.disarm();
  const { code = 'done' } = (body ?? {}) as { code?: string };
  const what = `${name}, ${fault.call} ${fault.kind} ${fault.argument ?? ''} after ${fault.before ?? 0}: ${status} ${code}`;
  if (status >= 400 && !(status === 503 && refusals.has(code))) throw new Error(`${what} is no refusal that says why`);
  if (status < 400 && asked.made !== undefined) made.push(asked.made);
  if (struck > 0) {
    report.faults += 1;
    report.answers[`${status} ${code}`] = (report.answers[`${status} ${code}`] ?? 0) + 1;
    report.calls[fault.call] = (report.calls[fault.call] ?? 0) + 1;
  }
  const until = performance.now() + recoverWithinMs;
  for (;;) {
    const again = request();
    const answer = await daemon.exchange(again.method, again.path, again.body);
    if (answer.status < 400) {
      if (again.made !== undefined) made.push(again.made);
      return;
    }
    if (performance.now() > until) throw new Error(`${what}; afterwards the service does not recover: ${answer.status} ${answer.text}`);
    await sleep(50);
  }
}

/** A start under each of so many faults, drawn by the dice: it succeeds or says why it does not, and the next one succeeds. */
export async function drillStarts(options: {
  readonly directory: string;
  readonly faults: number;
  readonly dice: Dice;
}): Promise<StartReport> {
  const { faults, dice } = options;
  const data = join(options.directory, 'data');
  mkdirSync(options.directory);
  const disk = new FaultyDisk(join(options.directory, 'table'), data);
  const environment = await disk.environment();
  const report: StartReport = { ready: 0, refused: {} };
  const first = await startDaemon({ directory: data });
  await first.request('POST', config, { name: 'kept' });
  const { ciphertext } = (await first.request('POST', `${state}/kept/encrypt`, { plaintext: payload })) as { ciphertext: string };
  const { rootToken } = first;
  await first.stop();
  const requireUsable = async (daemon: Daemon): Promise<void> => {
    // A fault that struck the audit trail is refused with the reason until that goes on by itself.
    const decrypt = () => daemon.exchange('POST', `${state}/kept/decrypt`, { ciphertext });
    let answer = await decrypt();
    for (const until = performance.now() + recoverWithinMs; answer.status === 503 && performance.now() < until; answer = await decrypt())
      await sleep(50);
    if ((answer.body as { plaintext?: string }).plaintext !== payload)
      throw new Error(`the ciphertext of before does not open: ${answer.status} ${answer.text}`);
    const code = await daemon.stop();
    if (code !== 0) throw new Error(`the daemon ended with ${code}:\n${daemon.output()}`);
  };
  disk.arm({ call: 'mkdir', kind: 'wait', argument: 0 });
  await requireUsable(await startDaemon({ directory: data, environment, rootToken }));
  const seen = new Map(diskCalls.map((call) => [call, disk.seen(call)]));
  const struck = diskCalls.filter((call) => (seen.get(call) ?? 0) > 0);
  for (let done = 0; done < faults; done++) {
    const call = dice.pick(struck);
    const fault: DiskFault = { call, before: dice.below(seen.get(call) ?? 0), ...dice.pick(faultsOf[call]) };
    const what = `a start under ${fault.kind} ${fault.argument ?? ''} of ${call} after ${fault.before}`;
    disk.arm(fault);
    try {
      await requireUsable(await startDaemon({ directory: data, environment, rootToken }));
      report.ready += 1;
    } catch (error) {
      const isOfLmdb = call === 'open' && String(error).includes('(SIGSEGV)');
      const reason = isOfLmdb ? endOfLmdb : refusalIn(String(error));
      if (reason === undefined) throw new Error(`${what} does not say why it ended`, { cause: error });
      report.refused[reason] = (report.refused[reason] ?? 0) + 1;
    } finally {
      disk.disarm();
    }
    const next = await startDaemon({ directory: data, rootToken }).catch((error: unknown) => {
      throw new Error(`${what}: the next start is refused`, { cause: error });
    });
    await requireUsable(next);
  }
  await requireWhole(data);
  return report;
}

/** Answers what a start says while no file with `part` in its path can be opened; the next start, when it can, succeeds. */
export async function startUnopened(directory: string, part: string): Promise<string> {
  mkdirSync(directory);
  const data = join(directory, 'data');
  const disk = new FaultyDisk(join(directory, 'table'), data);
  const before = await startDaemon({ directory: data });
  await before.stop();
  disk.arm({ call: 'open', kind: 'fail', argument: EIO, times: 2 ** 31 - 1, part });
  const refused = await startDaemon({ directory: data, environment: await disk.environment(), rootToken: before.rootToken }).then(
    () => 'it has started',
    (error: unknown) => refusalIn(String(error)) ?? String(error),
  );
  disk.disarm();
  await (await startDaemon({ directory: data, rootToken: before.rootToken })).stop();
  return refused;
}

/** Reads of the audit trail that each answer half of what was asked for, as before a spot that a disk cannot read: a start cuts nothing off. Answers how many. */
export async function startOnHalfReads(directory: string): Promise<number> {
  mkdirSync(directory);
  const data = join(directory, 'data');
  const disk = new FaultyDisk(join(directory, 'table'), data);
  const before = await startDaemon({ directory: data });
  for (let count = 0; count < 20; count++) await before.request('POST', config, { name: `kept-${count}` });
  await before.kill();
  disk.arm({ call: 'read', kind: 'half', times: 2 ** 31 - 1, part: '/audit/' });
  const daemon = await startDaemon({ directory: data, environment: await disk.environment(), rootToken: before.rootToken });
  const { struck } = disk;
  disk.disarm();
  await daemon.stop();
  await requireWhole(data);
  return struck;
}
