// Sign-ins under way in the store: what an earlier version left is taken into the order, and the order never loses or keeps a row too many.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../../core/base/secret.ts';
import { openStore, type OpenStore } from '../../../../core/store/open.ts';
import type { Store } from '../../../../core/store/store.ts';
import { orderByAddress } from '../../../../plugins/oidc/records/tables.ts';
import { UnderWay, type Waiting } from '../../../../plugins/oidc/records/under-way.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';

const at = temporaryDirectory();
let open: OpenStore;
let store: Store;

beforeAll(async () => {
  open = await openStore({ directory: at('store'), dataKey: new Secret(new Uint8Array(32).fill(7)) });
  store = open.prefixed('oidc');
});
afterAll(() => open.close());

const waiting = (records: string, order: string): UnderWay<Waiting> =>
  new UnderWay(store.table(records), store.table(order), { perAddress: 3, perTenant: 5, inAll: 7 });
const count = (table: string): number => {
  open.refresh();
  return store.table(table).count([]);
};

test('records of an earlier version are found, dropped and bounded like others', async () => {
  await store.write((transaction) => {
    transaction.put(store.table('pending-logins'), ['old'], { tenantId: 't', createdMs: 1_000 });
    transaction.put(store.table('pending-order'), ['t', 1_000, 'old'], true);
    transaction.put(store.table('hand-offs'), ['asked'], { tenantId: 't', createdMs: 1_000, clientIp: '10.0.0.1' });
  });
  await store.write((transaction) => orderByAddress(transaction, store));
  const [logins, requests] = [waiting('pending-logins', 'pending-places'), waiting('hand-offs', 'hand-off-places')];
  expect([count('pending-order'), count('pending-places'), count('hand-off-places')]).toEqual([0, 4, 4]);
  expect([...logins.faults(), ...requests.faults()]).toEqual([]);
  expect(logins.get('old')).toMatchObject({ tenantId: 't' });
  await store.write((transaction) => {
    for (const underWay of [logins, requests]) underWay.removeExpired(transaction, 601_000);
  });
  expect([count('pending-logins'), count('pending-places'), count('hand-offs'), count('hand-off-places')]).toEqual([0, 0, 0, 0]);
});

test('under a thousand starts the bounds hold after each, nobody is refused, and every row has its record', async () => {
  const underWay = waiting('many', 'many-places');
  for (let step = 0; step < 1_000; step += 1) {
    const [tenantId, clientIp] = [`t${(step * 7) % 4}`, `10.0.0.${(step * 13) % 11}`];
    await store.write((transaction) => underWay.add(transaction, `k${step}`, { tenantId, clientIp, createdMs: step * 500 }));
    open.refresh();
    expect(underWay.get(`k${step}`)).toBeDefined();
    const all = [...store.table<Waiting>('many').entries([])].map(([, record]) => record);
    expect(all.length).toBeLessThanOrEqual(7);
    expect(all.filter((one) => one.tenantId === tenantId).length).toBeLessThanOrEqual(5);
    expect(all.filter((one) => one.clientIp === clientIp).length).toBeLessThanOrEqual(3);
    expect(count('many-places')).toBe(4 * all.length);
  }
  expect([...underWay.faults()]).toEqual([]);
});
