// One appliance of a storm: a process that serves, with the follower beside it, as in a whole one; counters in its store that the test asks for.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { keepFollower } from '../../../appliance/cluster/replication/follower-process.ts';
import { FollowerLink } from '../../../appliance/cluster/replication/link.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { Secret } from '../../../core/base/secret.ts';
import { machineMoment } from '../../../core/cluster/validity.ts';
import { openStore } from '../../../core/store/open.ts';
import { maxOperations } from '../etcd.ts';

/** `dump`: everything that is in the store, as text. `follower`: the id of that process. */
export type Asked = { readonly number: number; readonly what: 'add' | 'read' | 'dump' | 'follower'; readonly key: string };
/** `refused`: nothing was done. `unknown`: it may have been. */
export type Answered = { readonly value: number } | { readonly dump: string } | { readonly refused: string } | { readonly unknown: string };
export type Answer = Answered & { readonly number: number };

const [name = '', id = '', directory = '', ...endpoints] = process.argv.slice(2);
const [socket, records] = [join(directory, 'socket'), join(directory, 'store')];
mkdirSync(directory, { recursive: true });
const dataKey = new Secret(new Uint8Array(32).fill(1));
const validWithinMs = 20_000;

process.on('disconnect', () => process.exit(0));
const run = randomUUID();
const follower = await keepFollower(() => ({
  ...{
    socket,
    directory: records,
    id,
    name,
    version: '1',
    run,
    publicUrl: '',
    endpoints,
    limits: { operations: maxOperations, bytes: 1_400_000 },
  },
  logs: { directory: join(directory, 'logs'), level: 'info', maxFileBytes: 1 << 20, retainFiles: 2 },
}));
const link = new FollowerLink({ appliance: id, caller: 1, socket, moment: machineMoment, report: () => undefined });
if ((await link.wrappedKeys()) === undefined) {
  await (await openStore({ directory: records, dataKey })).close();
  await link.bootstrap(Buffer.from('keys'));
}
await link.enter();
if (!(await link.untilValid(validWithinMs))) throw new Error('it may not answer');
const store = await openStore({ directory: records, dataKey, shared: link });
const table = store.table<number>('things');

const tell = (message: Answer | 'ready'): void => void process.send?.(message);
process.on('message', (asked: Asked) => void answer(asked).then((found) => tell({ number: asked.number, ...found })));
tell('ready');

/** As a request is answered: it may be at its begin, it works, it may be at its end (core/http/context/request-context.ts). */
async function answer({ what, key }: Asked): Promise<Answered> {
  if (what === 'follower') return { value: follower.pid ?? 0 };
  if (what === 'dump') {
    store.refresh();
    return { dump: JSON.stringify([...table.entries([])]) };
  }
  if (!link.isValid) return { refused: 'cut off' };
  store.refresh();
  try {
    const value = what === 'add' ? await add(key) : (table.get([key]) ?? 0);
    return link.isValid ? { value } : { unknown: 'too late' };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.details.mayBeDone === true ? { unknown: error.message } : { refused: error.message };
  }
}

function add(key: string): Promise<number> {
  return store.write((transaction) => {
    const next = (transaction.get(table, [key]) ?? 0) + 1;
    transaction.put(table, [key], next);
    return next;
  });
}
