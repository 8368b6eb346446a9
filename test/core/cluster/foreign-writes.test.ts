// What the follower says of records that appear in the shared store past every appliance.
import { expect, test } from 'vitest';
import { foreignWrites } from '../../../core/cluster/marks/foreign-writes.ts';
import { layout } from '../../../core/cluster/layout.ts';

const value = Buffer.from('sealed');
const record = (name: string) => ({ key: layout.record(`tokens\0tenant\0${name}\0`), value });
const lane = { key: layout.lane('appliance', 1), value };
const member = { key: layout.member('appliance'), value };

test('a revision that changes records and no lane is found, deletions and records put back alike', () => {
  const revisions = [
    { revision: 3, events: [record('a'), lane] },
    { revision: 4, events: [record('b')] },
    { revision: 5, events: [member] },
    { revision: 6, events: [lane] },
    { revision: 7, events: [{ ...record('c'), value: undefined }, record('d'), member] },
  ];
  expect(foreignWrites(revisions, () => true)).toEqual([
    { revision: 4, records: ['tokens\0tenant\0b\0'] },
    { revision: 7, records: ['tokens\0tenant\0c\0', 'tokens\0tenant\0d\0'] },
  ]);
});
