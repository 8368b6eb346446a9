// A disk that does not answer for a while, and then does: what the appliance says meanwhile, and that nothing is lost.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDaemon } from '../daemon.ts';
import { requireWhole } from '../kills/whole-check.ts';
import { FaultyDisk } from './faulty-disk.ts';

/** Answers by request and status, with the longest wait in milliseconds. */
export type StallReport = Readonly<Record<string, { count: number; longestMs: number }>>;

const keys = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';

/** What health says of a stall in each part of the data directory, as the name of its part and the state. */
const said = { '/audit/': ['audit', 'down'], '/store/': ['disk', 'stalled'] } as const;

/**
 * One write below `part` takes `stallMs`. Creations and uses of a key are asked for all that time. A stall of the store leaves uses as they
 * are; one of the audit trail refuses everything, with the reason. Throws when it is otherwise, or anything acknowledged is gone after a kill.
 */
export async function drillStalls(options: {
  readonly directory: string;
  readonly part: keyof typeof said;
  readonly stallMs: number;
}): Promise<StallReport> {
  const { directory, part, stallMs } = options;
  mkdirSync(directory);
  const data = join(directory, 'data');
  const disk = new FaultyDisk(join(directory, 'table'), data);
  const daemon = await startDaemon({ directory: data, environment: await disk.environment(), args: ['--workers', '1'] });
  await daemon.request('POST', keys, { name: 'kept' });
  const made: string[] = [];
  const report: Record<string, { count: number; longestMs: number }> = {};
  const seen = new Set<string>();
  const ask = async (what: string, method: string, path: string, body?: object): Promise<boolean> => {
    const begun = performance.now();
    const { status, body: answer } = await daemon.exchange(method, path, body);
    const { code = 'done' } = (answer ?? {}) as { code?: string };
    const row = (report[`${what} ${status} ${what === 'health' ? '' : code}`.trim()] ??= { count: 0, longestMs: 0 });
    row.count += 1;
    row.longestMs = Math.max(row.longestMs, Math.round(performance.now() - begun));
    if (what === 'health')
      for (const [name, one] of Object.entries(answer as object)) seen.add(`${name} ${(one as { state?: string }).state}`);
    else if (status >= 400 && !(part === '/audit/' && status === 503 && code === 'audit-unavailable'))
      throw new Error(`${what} during a stall of ${part}: ${status} ${code}`);
    return status < 400;
  };
  disk.arm({ call: 'write', kind: 'wait', argument: stallMs, part });
  const asked: Promise<unknown>[] = [];
  for (const until = performance.now() + stallMs; performance.now() < until; await sleep(500)) {
    const name = `stall-${randomBytes(6).toString('hex')}`;
    asked.push(
      ask('creation', 'POST', keys, { name }).then((isMade) => isMade && made.push(name)),
      ask('use', 'POST', `${state}/kept/encrypt`, { plaintext: 'aGVsbG8=' }),
      ask('health', 'GET', '/v1/state/system/health'),
    );
  }
  await Promise.all(asked);
  const { struck } = disk;
  disk.disarm();
  const [name, stateOfPart] = said[part];
  if (struck !== 1 || !seen.has(`${name} ${stateOfPart}`))
    throw new Error(`a stall of ${part} that struck ${struck} times: health says ${[...seen].join(', ')}`);
  while (!(await ask('creation', 'POST', keys, { name: `after-${randomBytes(6).toString('hex')}` }))) await sleep(100);
  await daemon.kill();
  const after = await startDaemon({ directory: data, rootToken: daemon.rootToken });
  for (const key of made) await after.request('GET', `${state}/${key}`);
  await after.stop();
  await requireWhole(data);
  return report;
}
