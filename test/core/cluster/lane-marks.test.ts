// An appliance knows its own transactions in the shared store: what somebody else has made by its lanes is found.
import { describe, expect, test } from 'vitest';
import { type ForeignWrite, foreignWrites, memberAt } from '../../../core/cluster/marks/foreign-writes.ts';
import { Lane } from '../../../core/cluster/lane.ts';
import { LaneMarks, type MarksPlace, nameIn } from '../../../core/cluster/marks/lane-marks.ts';
import { layout } from '../../../core/cluster/layout.ts';
import { Assembly, type Revision } from '../../../core/cluster/replica/assembly.ts';
import { buildTransaction, defaultLimits } from '../../../core/cluster/transaction.ts';
import { encodeSign, type MemberSign, type SeenMember } from '../../../core/cluster/validity.ts';
import { type Operation, put, remove } from '../../../core/etcd/messages.ts';
import { ModelEtcd } from '../../harness/model-etcd.ts';

const identity = { appliance: 'a', epoch: 'epoch' };
const key = layout.lane('a', 1);
const text = (name: string): string => `tokens\0tenant\0${name}\0`;
const sealed = (value: string): Uint8Array => Buffer.from(`sealed ${value}`);

/** One appliance, as it commits and as it follows; `restart` takes up what it keeps. */
async function startAppliance(place: MarksPlace & { marks: Uint8Array | undefined } = keptInMemory()) {
  const etcd = new ModelEtcd();
  etcd.txn({ compare: [], success: [put(layout.epoch, Buffer.from('epoch'))], failure: [] });
  let marks = new LaneMarks(place, identity);
  await marks.begin(etcd.revision);
  let lane = new Lane(key, { revision: 0, last: '' });
  let followed = 0;
  return {
    etcd,
    place,
    /** What the transaction has written to etcd, whatever became of it. */
    commit(name: string, written: ReadonlyMap<string, Uint8Array | undefined>): boolean {
      const intent = { epoch: 'epoch', revision: etcd.revision, level: 1, read: new Map(), searched: [], written };
      const guard = lane.begin(marks.mark(key, lane.state.revision, name, written));
      const built = buildTransaction(intent, guard, defaultLimits);
      if (!('request' in built)) throw new Error('it is too large');
      return lane.answered(etcd.txn(built.request)).isCommitted;
    },
    /** By who has a key for etcd. */
    forge(...success: Operation[]): void {
      etcd.txn({ compare: [], success, failure: [] });
    },
    get laneValue(): Buffer {
      return etcd.keys({ key })[0]?.value ?? Buffer.of();
    },
    follow(): readonly ForeignWrite[] {
      const found = foreignWrites(revisionsAfter(etcd, followed), (event, revision) => marks.isOwn(event.key, event.value, revision));
      followed = etcd.revision;
      place.marks = marks.encoded;
      return found;
    },
    get takenAt() {
      return marks.takenAt(key);
    },
    /** Its lanes are fenced by a process that starts. */
    restart(): void {
      marks = new LaneMarks(place, identity);
      const value = etcd.keys({ key })[0]?.value ?? Buffer.of();
      etcd.txn({ compare: [], success: [put(key, value)], failure: [] });
      lane = new Lane(key, { revision: etcd.revision, last: value.toString() });
    },
  };
}

function keptInMemory(): MarksPlace & { marks: Uint8Array | undefined } {
  const place = {
    marks: undefined as Uint8Array | undefined,
    keepMarks: async (octets: Uint8Array) => void (place.marks = octets),
  };
  return place;
}

function revisionsAfter(etcd: ModelEtcd, position: number): readonly Revision[] {
  const assembly = new Assembly(position);
  return etcd
    .watch(1)
    .map((answer, index) => ({
      ...answer,
      events: answer.events.map(({ type, kv }) => ({ type, kv: { ...kv, mod_revision: String(index + 1) } })),
    }))
    .flatMap((answer) => assembly.take(answer).revisions);
}

describe('in a lane of its own', () => {
  test('it knows what it has committed: records put, changed and deleted, several at once, also after a restart', async () => {
    const one = await startAppliance();
    const changes = [
      new Map([
        [text('x'), sealed('1')],
        [text('y'), sealed('1')],
      ]),
      new Map([
        [text('y'), undefined],
        [text('x'), sealed('2')],
      ]),
    ];
    for (const [index, written] of changes.entries()) expect(one.commit(`name-${index}`, written)).toBe(true);
    expect(one.follow()).toEqual([]);
    one.restart();
    expect(one.commit('name-2', new Map([[text('x'), undefined]]))).toBe(true);
    expect(one.follow()).toEqual([]);
    expect(one.takenAt).toBe(0);
  });

  const forgeries: Record<string, (value: Buffer) => Operation[]> = {
    'the lane as it is': (value) => [put(key, value), put(layout.record(text('x')), sealed('1'))],
    'a name that was never one': () => [put(key, Buffer.from('f7a1')), put(layout.record(text('x')), sealed('1'))],
    'the last transaction, once more': (value) => [put(key, value), put(layout.record(text('x')), sealed('2'))],
    'a deletion with the lane as it is': (value) => [put(key, value), remove({ key: layout.record(text('x')) })],
    'the lane deleted': () => [remove({ key }), put(layout.record(text('x')), sealed('1'))],
  };
  test.each(Object.entries(forgeries))('it does not take for its own: %s', async (_, forgery) => {
    for (const isAway of [false, true]) {
      const one = await startAppliance();
      one.commit('name-1', new Map([[text('x'), sealed('1')]]));
      one.commit('name-2', new Map([[text('x'), sealed('2')]]));
      expect(one.follow()).toEqual([]);
      one.forge(...forgery(one.laneValue));
      const revision = one.etcd.revision;
      if (isAway) one.restart();
      expect(one.follow()).toEqual([{ revision, records: [text('x')] }]);
      expect(one.takenAt).toBe(revision);
      one.restart();
      expect(one.commit('name-3', new Map([[text('x'), sealed('3')]]))).toBe(true);
      expect(one.follow()).toEqual([]);
    }
  });

  test('an earlier transaction whole, with the mark that it had, is not its own a second time', async () => {
    const one = await startAppliance();
    one.commit('name-1', new Map([[text('x'), sealed('1')]]));
    const earlier = one.laneValue;
    one.commit('name-2', new Map([[text('x'), sealed('2')]]));
    expect(one.follow()).toEqual([]);
    one.restart();
    one.forge(put(key, earlier), put(layout.record(text('x')), sealed('1')));
    expect(one.follow()).toHaveLength(1);
  });

  test('an etcd that adds a record to a transaction on its way is found', async () => {
    const one = await startAppliance();
    one.commit('name-1', new Map([[text('x'), sealed('1')]]));
    one.etcd.log.at(-1)?.push({ type: 0, kv: { key: layout.record(text('z')), value: Buffer.from('s') } as never });
    expect(one.follow()).toEqual([{ revision: one.etcd.revision, records: [text('x'), text('z')] }]);
  });

  test('what a program without marks had committed is not judged; what cannot be read begins again, and so does another appliance', async () => {
    const place = keptInMemory();
    const marks = new LaneMarks(place, identity);
    expect(marks.mark(key, 3, 'name', new Map())).toBe('name');
    const revision: Revision = { revision: 4, events: [{ key: layout.record(text('x')), value: Buffer.from('s') }] };
    expect(marks.isOwn(key, Buffer.from('name'), revision)).toBe(true);
    await marks.begin(4);
    expect(marks.isOwn(key, Buffer.from('name'), revision)).toBe(true);
    expect(marks.isOwn(key, Buffer.from('name'), { ...revision, revision: 5 })).toBe(false);
    expect(nameIn(marks.mark(key, 5, 'name', new Map()))).toBe('name');
    for (const [kept, who] of [
      [Buffer.from('{'), identity],
      [place.marks, { ...identity, appliance: 'b' }],
      [place.marks, { ...identity, epoch: 'other' }],
    ] as const)
      expect(new LaneMarks({ ...place, marks: kept }, who).encoded).toBeUndefined();
    expect(new LaneMarks(place, identity).encoded).toEqual(place.marks);
  });
});

describe('in lanes of others', () => {
  const sign = (state: MemberSign['state']): MemberSign => ({
    ...{ name: 'b', version: '1', levels: { oldest: 1, newest: 1 }, validMs: 1, run: 'r', state, applied: 0 },
  });
  const seen = (state: MemberSign['state']): SeenMember => ({ ...sign(state), revision: 1, seenMs: 0 });
  const by = (id: string, revision: number): Revision => ({
    revision,
    events: [
      { key: layout.record(text('x')), value: Buffer.from('s') },
      { key: layout.lane(id, 1), value: Buffer.from('n') },
    ],
  });
  const foundIn = (revisions: readonly Revision[], members: Record<string, SeenMember>, from = 0): readonly number[] => {
    const isMember = memberAt(new Map(Object.entries(members)), revisions, from);
    return foreignWrites(revisions, ({ of }, { revision }) => isMember(of, revision)).map(({ revision }) => revision);
  };

  test('a member may commit, also one that is declared out meanwhile; one that was removed or never came in does not', () => {
    const members = { in: seen('in'), out: seen('out'), expelled: seen('expelled'), removing: seen('removing'), removed: seen('removed') };
    const revisions = ['in', 'out', 'expelled', 'removing', 'removed', 'nobody'].map((id, index) => by(id, 10 + index));
    expect(foundIn(revisions, members)).toEqual([14, 15]);
  });

  test('the signs of the same batch count, in their order', () => {
    const signed = (revision: number, state: MemberSign['state']): Revision => ({
      revision,
      events: [{ key: layout.member('b'), value: encodeSign(sign(state)) }],
    });
    expect(foundIn([by('b', 10), signed(11, 'in'), by('b', 12), signed(13, 'removed'), by('b', 14)], {})).toEqual([10, 14]);
  });

  test('who was a member before this appliance was back is not known: nothing is said of it', () => {
    expect(foundIn([by('nobody', 10), by('nobody', 12)], {}, 11)).toEqual([12]);
  });
});
