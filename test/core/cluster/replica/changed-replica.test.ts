// A replica whose file lost a change is not followed from where it was: every record is fetched again, also what looks as new as in the shared store.
import { expect, test } from 'vitest';
import { type PageRecord, ReplicaWriter } from '../../../../core/cluster/replica/replica-writer.ts';
import { Environment } from '../../../../core/store/environment.ts';
import { keyBytes } from '../../../../core/store/keys.ts';
import { replicated } from '../../../../core/store/replica.ts';
import { silentLog } from '../../../harness/log.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';

const path = temporaryDirectory();
const page: readonly PageRecord[] = ['a', 'b', 'c'].map((name, at) => ({
  text: `things\0${name}\0`,
  sealed: Buffer.from(`sealed ${name}`),
  revision: at + 2,
}));

async function fill(writer: ReplicaWriter): Promise<void> {
  await writer.beginFilling('epoch');
  await writer.fillPage(page, undefined, true);
  await writer.filled({ epoch: 'epoch', revision: 9, level: 1 });
}

test.each<[string, (raw: Environment) => unknown]>([
  ['lost a record', (raw) => raw.remove(keyBytes('things\0b\0'))],
  ['has an earlier record', (raw) => raw.put(keyBytes('things\0b\0'), replicated(Buffer.from('earlier'), 1))],
  ['has another record of the same revision', (raw) => raw.put(keyBytes('things\0b\0'), replicated(Buffer.from('another'), 3))],
  ['has a record that was deleted', (raw) => raw.put(keyBytes('things\0z\0'), replicated(Buffer.from('deleted'), 1))],
])('a replica that %s is filled again, whatever happens meanwhile', async (what, damage) => {
  const directory = path(what);
  let writer = new ReplicaWriter(directory, silentLog);
  await fill(writer);
  await writer.apply([{ revision: 12, events: [] }], { epoch: 'epoch', revision: 12 });
  expect(await writer.distrustIfChanged()).toBe(false);
  expect(writer.position).toMatchObject({ epoch: 'epoch', revision: 9 });
  await writer.close();
  const raw = new Environment(directory, () => undefined);
  await raw.commit(() => void damage(raw));
  await raw.close();

  writer = new ReplicaWriter(directory, silentLog);
  expect(await writer.distrustIfChanged()).toBe(true);
  expect(writer.position).toEqual({ epoch: '', revision: 0, filling: true });
  await writer.close();
  // A start that was cut off here begins again with the filling.
  writer = new ReplicaWriter(directory, silentLog);
  expect(await writer.distrustIfChanged()).toBe(false);
  await fill(writer);
  expect(Array.from(writer.records())).toEqual(page.map(({ text, sealed, revision }) => ({ text, sealed: replicated(sealed, revision) })));
  expect(await writer.distrustIfChanged()).toBe(false);
  await writer.close();
});
