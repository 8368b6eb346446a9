// Whatever the messages of a watch are cut into, whole revisions come out, once each, and the position never runs ahead of them.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Assembly } from '../../../../core/cluster/replica/assembly.ts';
import type { WatchAnswer } from '../../../../core/etcd/messages.ts';
import { emptyAnswer } from '../../../harness/model-etcd.ts';

function event(revision: number, key: string, type = 0): WatchAnswer['events'][number] {
  return {
    type,
    kv: { key: Buffer.from(key), value: Buffer.from(`${key}${revision}`), create_revision: '1', mod_revision: String(revision) },
  };
}

function message(newest: number, more: Partial<WatchAnswer>): WatchAnswer {
  return { ...emptyAnswer, header: { cluster_id: '1', member_id: '1', revision: String(newest), raft_term: '1' }, ...more };
}

/** One message as the server cuts it: `sizes` events in each fragment, the rest in the last. */
function fragments(events: WatchAnswer['events'], sizes: readonly number[], newest: number): WatchAnswer[] {
  const cut: WatchAnswer[] = [];
  let rest = events;
  for (const size of sizes) {
    if (rest.length <= size) break;
    cut.push(message(newest, { events: rest.slice(0, size), fragment: true }));
    rest = rest.slice(size);
  }
  return [...cut, message(newest, { events: rest })];
}

describe('the assembly', () => {
  test('gives each revision whole and once, however a message is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 12 }),
        fc.nat(12),
        (counts, sizes, delivered) => {
          const events = counts.flatMap((count, index) => Array.from({ length: count }, (_, n) => event(index + 1, `k${n}`)));
          const assembly = new Assembly(delivered);
          const revisions: { readonly revision: number; readonly events: readonly unknown[] }[] = [];
          let position = delivered;
          for (const answer of fragments(events, sizes, 1_000)) {
            const progress = assembly.take(answer);
            revisions.push(...progress.revisions);
            position = progress.position ?? position;
            // Nothing is said to be delivered that was not.
            if (progress.position !== undefined && progress.position > Math.max(delivered, revisions.at(-1)?.revision ?? 0)) return false;
          }
          const expected = counts.flatMap((count, index) => (index + 1 > delivered ? [[index + 1, count]] : []));
          return (
            position === Math.max(delivered, counts.length) &&
            JSON.stringify(revisions.map(({ revision, events: inside }) => [revision, inside.length])) === JSON.stringify(expected)
          );
        },
      ),
    );
  });

  test('the header of a message with events is no position', () => {
    expect(new Assembly(4).take(message(90, { events: [event(5, 'a')] })).position).toBe(5);
  });

  test('neither is that of the message that confirms the watch', () => {
    expect(new Assembly(4).take(message(90, { created: true })).position).toBe(4);
  });

  test('a message of progress is one', () => {
    const assembly = new Assembly(4);
    expect(assembly.take(message(9, {})).position).toBe(9);
    expect(assembly.take(message(10, { events: [event(10, 'a')] }))).toMatchObject({ position: 10, revisions: [{ revision: 10 }] });
  });

  test('a deletion has no value', () => {
    const { revisions } = new Assembly(0).take(message(1, { events: [event(1, 'a', 1)] }));
    expect(revisions).toEqual([{ revision: 1, events: [{ key: Buffer.from('a'), value: undefined }] }]);
  });

  test('compaction and other ends are told apart', () => {
    expect(new Assembly(4).take(message(9, { canceled: true, compact_revision: '8' })).isCompacted).toBe(true);
    const ended = new Assembly(4).take(message(9, { canceled: true, cancel_reason: 'etcdserver: no leader' }));
    expect([ended.isCompacted, ended.ended]).toEqual([undefined, 'etcdserver: no leader']);
  });

  test('revisions out of order are refused', () => {
    const assembly = new Assembly(0);
    assembly.take(message(9, {}));
    expect(() => assembly.take(message(9, { events: [event(7, 'a')] }))).toThrow('revision 7 after 9');
  });
});
