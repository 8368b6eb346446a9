// What an appliance had that stood alone is dropped before it joins, wherever it was cut off.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMembership, writeMembership } from '../../../../appliance/cluster/membership/files.ts';
import { dropFormerState } from '../../../../appliance/cluster/membership/joining/former-state.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';

const temporary = temporaryDirectory();
const joining = { step: 'joining', cluster: 'c', clientUrl: 'https://192.0.2.12:2379', peerUrl: 'https://192.0.2.12:2380' } as const;

const filled = (name: string): string => {
  const data = temporary(name);
  for (const directory of ['store', 'audit', 'tls', 'member']) mkdirSync(join(data, directory), { recursive: true });
  for (const file of ['store/data.mdb', 'store-key.json', 'root-token', 'audit/worker-1.jsonl', 'tls/sealed-identity.json', 'cluster.json'])
    writeFileSync(join(data, file), 'x');
  return data;
};

test('store, store key and root token go, and the audit trail is kept beside the new one', () => {
  const data = filled('whole');
  writeMembership(data, { ...joining, replaces: true });
  dropFormerState(data);
  expect(readdirSync(data).toSorted()).toEqual(['audit-before-c', 'cluster.json', 'member', 'tls']);
  expect(existsSync(join(data, 'audit-before-c/worker-1.jsonl'))).toBe(true);
  expect(existsSync(join(data, 'tls/sealed-identity.json'))).toBe(true);
  expect(readMembership(data)).toEqual(joining);
});

test.each([[['audit']], [['audit', 'store']], [['audit', 'store/data.mdb']], [['audit', 'store', 'store-key.json', 'root-token']]])(
  'cut off after %j was dropped, the next start does the rest',
  (gone) => {
    const data = filled(`cut-${gone.length}-${gone.at(-1)?.replace('/', '-')}`);
    writeMembership(data, { ...joining, replaces: true });
    mkdirSync(join(data, 'audit-before-c'));
    for (const one of gone) rmSync(join(data, one), { recursive: true });
    dropFormerState(data);
    expect(readdirSync(data).toSorted()).toEqual(['audit-before-c', 'cluster.json', 'member', 'tls']);
    expect(readMembership(data)).toEqual(joining);
  },
);

test('a member, and one that joined with an empty data directory, lose nothing', () => {
  const data = filled('member');
  const before = readdirSync(data).toSorted();
  dropFormerState(data);
  writeMembership(data, joining);
  dropFormerState(data);
  expect(readdirSync(data).toSorted()).toEqual(before);
});
