// A change of any number of records goes in pieces that a transaction of etcd takes, and what it ends is refused from the first piece on.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approleTable } from '../../../core/access/approles/approles.ts';
import { dropSecretIdsInPieces, issueSecretId, loginSweepJob } from '../../../core/access/approles/secret-ids.ts';
import { tokenExpiryJob } from '../../../core/access/tokens/expiry.ts';
import { disableToken, findToken, issueToken } from '../../../core/access/tokens/tokens.ts';
import { rootIdentity } from '../../../core/access/user.ts';
import { Secret } from '../../../core/base/secret.ts';
import { systemClock } from '../../../core/base/time.ts';
import { deadTenantJob, dropTokens } from '../../../core/platform/tenants/dead-tenants.ts';
import { createSessions } from '../../../core/platform/sessions/sessions-service.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import type { Hsm, KeyReference } from '../../../hsm/api.ts';
import { endSessions, endUngranted } from '../../../plugins/oidc/records/end-session.ts';
import { openTables } from '../../../plugins/oidc/records/tables.ts';
import type { Transit } from '../../../plugins/transit/context.ts';
import { type Key, Keyring } from '../../../plugins/transit/records/keyring.ts';
import { notePrivateKey, otherUsesOf } from '../../../plugins/transit/records/private-key-uses.ts';
import { openTables as transitTables, type KeyRecord } from '../../../plugins/transit/records/records.ts';
import { finishRemoval, finishRemovals, isRemoved, removeVersions } from '../../../plugins/transit/versions/removal.ts';
import { silentLog } from '../../harness/log.ts';
import { type ModelAppliance, ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const cluster = new ModelCluster();
/** More than any transaction takes: the model refuses those of more than 128 operations. */
const many = 150;
const { signal } = new AbortController();
let one: ModelAppliance;
let other: ModelAppliance;

beforeAll(async () => {
  one = await cluster.join('one', temporary('one'));
  other = await cluster.join('other', temporary('other'));
});
afterAll(() => cluster.close());

type Issued = { readonly token: string; readonly accessor: string };

async function issue(count: number, tenantId: string, parent?: string): Promise<readonly Issued[]> {
  const { store } = one;
  const accessors = new Map<string, string>();
  const texts = Array.from({ length: count }, () => randomUUID() as string);
  const of = parent === undefined ? { identity: rootIdentity(tenantId) } : { parent };
  const grant = { tenantId, user: 'user', policies: [], ...of };
  await writeInPieces(store, texts, (transaction, token) => {
    // What did not fit into a batch is run again: the last accessor counts.
    accessors.set(token, issueToken(transaction, store, systemClock, new Secret(token), grant).accessor);
  });
  return Array.from(accessors, ([token, accessor]) => ({ token, accessor }));
}

function countIn({ store }: ModelAppliance, table: string, ...prefix: string[]): number {
  store.refresh();
  return store.table(table).count(prefix);
}

const works = ({ store }: ModelAppliance, { token }: Issued): boolean => {
  store.refresh();
  return findToken(store, token, systemClock.now()) !== undefined;
};

describe('a token with many descendants', () => {
  test('ends with one transaction for every appliance, with all of them; the job removes what is left', async () => {
    const [root] = (await issue(1, 'family')) as [Issued];
    const children = await issue(many, 'family', root.accessor);
    const [child] = children as [Issued];
    const grandchildren = await issue(many, 'family', child.accessor);
    const before = one.commits;
    await one.store.write((transaction) => disableToken(transaction, one.store, 'family', root.accessor));
    expect(one.commits).toBe(before + 1);
    for (const appliance of [one, other]) {
      expect([root, ...children, ...grandchildren].filter((token) => works(appliance, token))).toEqual([]);
    }
    expect(countIn(other, 'tokens', 'family')).toBeGreaterThan(many);
    await tokenExpiryJob(other.store, systemClock).run(signal);
    for (const appliance of [one, other]) {
      expect(['tokens', 'token-children', 'token-hashes'].map((table) => countIn(appliance, table))).toEqual([0, 0, 0]);
    }
  });

  test('ends with its few descendants, which leave nothing behind', async () => {
    const [root] = (await issue(1, 'small')) as [Issued];
    const [child] = (await issue(3, 'small', root.accessor)) as [Issued];
    await issue(2, 'small', child.accessor);
    await one.store.write((transaction) => disableToken(transaction, one.store, 'small', root.accessor));
    expect(['tokens', 'token-children'].map((table) => countIn(one, table, 'small'))).toEqual([0, 0]);
  });
});

test('the tokens of a tenant that was deleted are removed', async () => {
  await issue(many, 'tenant');
  await dropTokens(one.store, 'tenant');
  expect(countIn(other, 'tokens', 'tenant')).toBe(0);
});

test('the secret-ids of an approle that was deleted are removed, by its deletion or by the job', async () => {
  const { store } = one;
  const grant = { tenantId: 'machines', boundCidrs: [], ttlSeconds: undefined, numUses: 0 };
  const make = (approle: string): Promise<void> =>
    writeInPieces(store, Array.from({ length: many }), (transaction) => {
      issueSecretId(transaction, store, systemClock.now(), new Secret(randomUUID()), {
        ...grant,
        approle,
        approleId: `id-${approle}`,
      });
    });
  await store.write((transaction) => {
    for (const name of ['kept', 'made-again']) {
      const id = name === 'kept' ? 'id-kept' : 'another';
      transaction.put(approleTable(store), ['machines', name], { id, ownRoleId: name } as never);
    }
  });
  for (const approle of ['kept', 'deleted', 'made-again']) await make(approle);
  await dropSecretIdsInPieces(store, 'machines', 'id-deleted');
  expect(countIn(other, 'secret-ids')).toBe(2 * many);
  await loginSweepJob(other.store, systemClock).run(signal);
  expect(countIn(one, 'secret-ids')).toBe(many);
  expect(countIn(one, 'secret-id-accessors', 'machines', 'id-kept')).toBe(many);
});

test('what is left of a tenant that does not exist is removed', async () => {
  const { store } = one;
  const table = store.tenantTable<number>('policies');
  await writeInPieces(store, Array.from({ length: many }), (transaction) => transaction.put(table, ['dead', randomUUID()], 1));
  await issue(many, 'dead');
  const asked: string[] = [];
  const plugins = { dropTenant: async (tenantId: string) => void asked.push(tenantId) };
  await deadTenantJob(store, plugins, silentLog).run(signal);
  expect(asked).toContain('dead');
  expect(['policies', 'tokens'].map((name) => countIn(other, name, 'dead'))).toEqual([0, 0]);
});

describe('of sign-ins', () => {
  const bounds = { perAddress: Infinity, perTenant: Infinity, inAll: Infinity };

  test('those that were not finished are removed when their time is over, also while others begin', async () => {
    const { pending } = openTables(one.store.prefixed('oidc'), bounds);
    const waiting = (n: number) => ({ tenantId: 't', createdMs: n, clientIp: `10.0.0.${n % 200}` }) as never;
    for (let n = 0; n < 60; n++) await one.store.write((transaction) => pending.add(transaction, `old-${n}`, waiting(n)));
    await one.store.write((transaction) => pending.add(transaction, 'new', waiting(3_600_000)));
    for (let mayBeMore = true; mayBeMore;) {
      mayBeMore = await one.store.write((transaction) => pending.removeExpired(transaction, 3_600_000));
    }
    other.store.refresh();
    const tables = other.store.prefixed('oidc');
    expect(['pending-logins', 'pending-places'].map((name) => tables.table(name).count([]))).toEqual([1, 4]);
  });

  test('sessions that no role grants any more end, with all tokens that they have shown', async () => {
    const store = one.store.prefixed('oidc');
    const tables = openTables(store, bounds);
    const accounts = createSessions({ store: one.store, hsm: {} as Hsm, clock: systemClock });
    const identity = { issuer: 'i', subject: 's', username: 'u', policies: ['user'], service: 'staff', expiresMs: Number.MAX_SAFE_INTEGER };
    const [ended, kept] = [await issue(20, 'people'), await issue(1, 'people')];
    const shown = await Promise.all(ended.map(() => issue(10, 'people')));
    await store.write((transaction) => {
      transaction.put(tables.services, ['people', 'staff'], {} as never);
      transaction.put(tables.roles, ['people', 'staff', 'kept'], { tokenPolicies: ['user'] } as never);
      transaction.put(tables.roles, ['people', 'staff', 'lost'], { tokenPolicies: ['default'] } as never);
    });
    await writeInPieces(store, [...ended.entries()], (transaction, [index, { accessor }]) => {
      const browser = { lastUsedMs: 0, shownTokens: shown[index]?.map((token) => token.accessor) ?? [] };
      transaction.put(tables.sessions, ['people', accessor], { ...identity, roles: [index % 2 === 0 ? 'lost' : 'gone'], browser });
    });
    await store.write((transaction) => {
      for (const { accessor } of kept) transaction.put(tables.sessions, ['people', accessor], { ...identity, roles: ['kept'] });
    });
    await endUngranted({ store, accounts, ...tables }, signal);
    expect([...ended, ...shown.flat()].filter((token) => works(other, token))).toEqual([]);
    expect(kept.filter((token) => works(other, token))).toHaveLength(1);
    expect(tables.sessions.count(['people'])).toBe(1);
  });

  test('sessions that a change ends are ended before its answer, also where another role gives the same policies', async () => {
    const store = one.store.prefixed('oidc');
    const { sessions } = openTables(store, bounds);
    const accounts = createSessions({ store: one.store, hsm: {} as Hsm, clock: systemClock });
    const people = await issue(40, 'guests');
    const identity = { issuer: 'i', subject: 's', username: 'u', policies: ['user'], service: 'staff', expiresMs: Number.MAX_SAFE_INTEGER };
    await writeInPieces(store, people, (transaction, { accessor }) =>
      transaction.put(sessions, ['guests', accessor], { ...identity, roles: ['changed', 'another'] }),
    );
    const ending = endSessions({ store, accounts, sessions }, 'guests', ({ roles }) => roles.includes('changed'));
    const before = one.commits;
    await store.write((transaction) => ending.commit(transaction));
    expect(one.commits).toBe(before + 1);
    await ending.after();
    expect(people.filter((token) => works(other, token))).toEqual([]);
    expect(sessions.count(['guests'])).toBe(0);
  });
});

describe('a key of many versions', () => {
  const tablesOf = ({ store }: ModelAppliance) => transitTables(store.prefixed('transit'));
  const destroyed: number[] = [];
  const transitOf = (appliance: ModelAppliance): Transit => {
    const ledger = {
      disown: () => undefined,
      destroy: async (references: readonly KeyReference[]) => void destroyed.push(...references.map(({ binding }) => binding.version)),
    };
    const tables = tablesOf(appliance);
    return { store: appliance.store.prefixed('transit'), tables, keyring: new Keyring(tables), ledger } as unknown as Transit;
  };
  const stored = { type: 'aes-256', custody: 'wrapped', token: 'main', blob: new Uint8Array(8), mac: new Uint8Array(8) };
  const record = { id: 'id', cipher: 'aes256-gcm96', derived: false, floor: 1, latest: many } as unknown as KeyRecord;
  const key: Key = { tenantId: 'keys', name: 'key', record };
  const rows = (appliance: ModelAppliance): number => {
    appliance.store.refresh();
    const { versions, usage, removedVersions } = tablesOf(appliance);
    return [versions, usage, removedVersions].reduce((sum, table) => sum + table.count(['keys']), 0);
  };

  test('is trimmed and deleted with one transaction each; what is left goes afterwards, also after a crash', async () => {
    const transit = transitOf(one);
    const { keys, versions, usage } = transit.tables;
    await writeInPieces(
      one.store,
      Array.from({ length: many }, (_, index) => index + 1),
      (transaction, number) => {
        transaction.put(versions, ['keys', 'id', number], { stored } as never);
        transaction.put(usage, ['keys', 'id', number], { reserved: 1, uses: 1, rewrapped: 0 });
      },
    );
    const trimmed: Key = { ...key, record: { ...record, floor: 101 } };
    const removed = await one.store.write((transaction) => {
      transaction.put(keys, ['keys', 'key'], trimmed.record);
      return removeVersions(transit, transaction, key, 101);
    });
    expect(removed.length).toBeLessThan(100);
    other.store.refresh();
    const seen = transitOf(other);
    expect(Array.from(seen.keyring.versions(trimmed), ({ number }) => number)).toEqual(Array.from({ length: 50 }, (_, n) => n + 101));
    expect([isRemoved(seen, 'keys', 'id', 100), isRemoved(seen, 'keys', 'id', 101)]).toEqual([true, false]);
    await finishRemoval(transit, key, removed);
    expect(rows(other)).toBe(2 * 50);
    expect(destroyed.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    await one.store.write((transaction) => {
      transaction.delete(keys, ['keys', 'key']);
      return removeVersions(transit, transaction, trimmed);
    });
    // The process ends here; the job of another one goes on.
    await finishRemovals(seen);
    expect([rows(one), rows(other)]).toEqual([0, 0]);
  });

  test('whose removal goes on afterwards is no other use of its private key', async () => {
    const transit = transitOf(one);
    const publicKey = new Uint8Array(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }));
    const signing: Key = { ...key, record: { ...record, id: 'signing', cipher: 'ed25519', latest: 20 } };
    const place = { tenantId: 'keys', keyId: 'signing', name: 'key', use: 'sign' } as const;
    const note = (keyId: string, number: number, use: 'sign' | 'agree') => (transaction: WriteTransaction) =>
      notePrivateKey(transit, transaction, { ...place, keyId, number, use }, publicKey, { isNew: false, allowsOthers: false });
    for (let number = 1; number <= 20; number += 1)
      await one.store.write((transaction) => {
        transaction.put(transit.tables.versions, ['keys', 'signing', number], { stored, publicKey } as never);
        note('signing', number, 'sign')(transaction);
      });
    const second = () => one.store.write(note('second', 1, 'agree'));
    await expect(second()).rejects.toMatchObject({ code: 'private-key-in-use' });
    expect(otherUsesOf(transit, 'keys', 'agree', publicKey)).toEqual(['sign']);
    const removed = await one.store.write((transaction) => removeVersions(transit, transaction, signing));
    expect(removed).toHaveLength(12);
    one.store.refresh();
    expect(otherUsesOf(transit, 'keys', 'agree', publicKey)).toEqual([]);
    await second();
    await finishRemoval(transit, signing, removed);
  });
});
