// A token without the wrapping key that the store uses is found whatever state the rotation is in that made it.
import { expect, test } from 'vitest';
import { answerFinding, findingParts } from '../../../appliance/findings/findings.ts';
import { lostKeysJob, noteUnusableTokens } from '../../../appliance/findings/lost-keys.ts';
import { beginning, wrappingTable } from '../../../appliance/wrapping-keys/record.ts';
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import { systemClock } from '../../../core/base/time.ts';
import { Secret } from '../../../core/base/secret.ts';
import { openStore } from '../../../core/store/open.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();

test('an earlier token under a store in the middle of a rotation hinders, and not once it is the right one', async () => {
  const hsm = await openHsm(testHsmConfig(await makeSoftToken(path())));
  const store = await openStore({ directory: path('store'), dataKey: new Secret(new Uint8Array(32).fill(1)) });
  const rotation = new WrappingRotation({ store, hsm, clock: systemClock });
  const job = lostKeysJob({ store, hsm, clock: systemClock, rotation, keys: () => [] });
  const found = async (): Promise<unknown> => {
    await job.run(new AbortController().signal);
    store.refresh();
    return findingParts(store, systemClock).map(({ hinders, reason }) => ({ hinders, reason }));
  };
  expect(await found()).toEqual([]);
  const [{ name: token } = { name: '' }] = hsm.status();
  await store.write((transaction) =>
    transaction.put(wrappingTable(store), [token], beginning({ number: 2, carrying: undefined }, systemClock.now())),
  );
  store.refresh();
  expect(rotation.state(token).state).toBe('rewrapping');
  const reason = `token ${token} has no wrapping key 2: restore the token from the backup that goes with the store`;
  await noteUnusableTokens({ store, hsm, clock: systemClock, rotation });
  const atStart = (): unknown => findingParts(store, systemClock).map((part) => [part.hinders, part.reason]);
  expect(atStart()).toEqual([[true, expect.stringContaining(reason)]]);
  expect(await found()).toEqual([{ hinders: true, reason: expect.stringContaining(reason) }]);
  // Another start does not open it again once it was answered.
  await answerFinding(store, systemClock, 'keys-lost', 'admin');
  await noteUnusableTokens({ store, hsm, clock: systemClock, rotation });
  expect(atStart()).toEqual([]);
  await hsm.wrappingKeys.makeNext(token, 1);
  await store.write((transaction) => {
    const record = transaction.get(wrappingTable(store), [token]);
    if (record !== undefined) transaction.put(wrappingTable(store), [token], { ...record, phase: 'done' });
  });
  expect(await found()).toEqual([]);
  await noteUnusableTokens({ store, hsm, clock: systemClock, rotation });
  expect(atStart()).toEqual([]);
  await Promise.all([hsm.close(), store.close()]);
});
