// The key ledger: whatever fails, and whenever the process ends, the token holds exactly the keys that committed records own.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Log } from '../../../core/base/context.ts';
import { Secret } from '../../../core/base/secret.ts';
import { TestClock } from '../../harness/clock.ts';
import { KeyLedger, type KeyLedgerOptions, type KeyLedgerRecord } from '../../../core/plugin/key-ledger.ts';
import { type OpenStore, openStore } from '../../../core/store/open.ts';
import type { Table } from '../../../core/store/store.ts';
import { HsmError, type KeyReference, type StoredKey } from '../../../hsm/api.ts';
import { silentLog } from '../../harness/log.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const clock = new TestClock();
const longestMakingSeconds = 900;
const binding = { tenant: 'some-tenant', keyId: 'some-key', version: 1, purpose: 'encrypt' };
const warnings: string[] = [];
const log: Log = { ...silentLog, warn: (text) => warnings.push(text) };
let store: OpenStore;
let entries: Table<KeyLedgerRecord>;
let owners: Table<KeyReference>;

beforeAll(async () => {
  store = await openStore({ directory: temporary('store'), dataKey: new Secret(new Uint8Array(32).fill(1)) });
  entries = store.table('entries');
  owners = store.table('owners');
});
afterAll(() => store.close());

/** A token: the objects it holds, by the MAC of their stored key. */
class Token {
  readonly objects = new Set<string>();
  isAway = false;

  async reserve(type: StoredKey['type'], _binding: unknown, custody: StoredKey['custody'] = 'wrapped'): Promise<StoredKey | undefined> {
    return custody === 'wrapped' ? undefined : { type, custody, token: 'token', blob: randomBytes(16), mac: randomBytes(32) };
  }

  async generate({ mac }: StoredKey): Promise<void> {
    this.objects.add(mac.toHex());
  }

  async destroy({ stored }: KeyReference): Promise<void> {
    if (this.isAway) throw new HsmError('unavailable', 'the token is away');
    if (!this.objects.delete(stored.mac.toHex())) throw new HsmError('key-missing', 'there is no such object');
  }
}

/** Where a step fails, and whether the process ends there. */
type Fault = { readonly step: number; readonly when: 'before' | 'after'; readonly ends: boolean };

/** A process: every call to token and store is a step, one of which may fail before or after it has had its effect. */
function startProcess(token: Token, fault?: Fault, appliance?: string) {
  let steps = 0;
  let hasEnded = false;
  const step = async <T>(effect: () => Promise<T>): Promise<T> => {
    const isFaulty = ++steps === fault?.step;
    if (hasEnded) throw new Error('the process has ended');
    if (isFaulty) hasEnded = fault.ends;
    if (isFaulty && fault.when === 'before') throw new HsmError('unavailable', 'a planted fault');
    const result = await effect();
    if (isFaulty) throw new HsmError('unavailable', 'a planted fault');
    return result;
  };
  const options: KeyLedgerOptions = {
    store: { appliance, refresh: () => store.refresh(), write: (change) => step(() => store.write(change)) },
    table: entries,
    hsm: {
      reserve: (...parts) => step(() => token.reserve(...parts)),
      destroy: (reference) => step(() => token.destroy(reference)),
    },
    clock,
    log,
  };
  clock.advance(1);
  const ledger = new KeyLedger(options);
  return { ledger, write: options.store.write, generate: (stored: StoredKey) => step(() => token.generate(stored)), steps: () => steps };
}

type Process = ReturnType<typeof startProcess>;

/** What plugins do with the ledger: makes a key with an owner. */
async function make({ ledger, write, generate }: Process): Promise<KeyReference> {
  const stored = await ledger.reserve('aes-256', binding, 'token');
  if (stored === undefined) throw new Error('a token key was not reserved');
  const made = { stored, binding };
  try {
    await generate(stored);
    await write((transaction) => {
      ledger.claim(transaction, [made]);
      transaction.put(owners, [stored.mac.toHex()], made);
    });
    return made;
  } catch (error) {
    await ledger.destroy([made]);
    throw error;
  }
}

/** And removes the owner again. */
async function remove({ ledger, write }: Process, made: KeyReference): Promise<void> {
  await write((transaction) => {
    transaction.delete(owners, [made.stored.mac.toHex()]);
    ledger.disown(transaction, [made]);
  });
  await ledger.destroy([made]);
}

function owned(): string[] {
  store.refresh();
  return Array.from(owners.keys([]), ([mac]) => String(mac)).toSorted();
}

function pending(): KeyLedgerRecord[] {
  store.refresh();
  return Array.from(entries.entries([]), ([, record]) => record);
}

/** Removes what a test left, so that the next one begins with nothing. */
async function clear(): Promise<void> {
  store.refresh();
  await store.write((transaction) => {
    for (const table of [owners, entries]) for (const key of Array.from(table.keys([]))) transaction.delete(table, key);
  });
}

const stepsOfALife = 7;
const faults: readonly Fault[] = Array.from({ length: stepsOfALife }, (_, index) => index + 1).flatMap((step) =>
  (['before', 'after'] as const).flatMap((when) => [false, true].map((ends) => ({ step, when, ends }))),
);

describe('a key that is made and removed', () => {
  test('leaves nothing, in as many steps as the faults below are planted in', async () => {
    const token = new Token();
    const process = startProcess(token);
    const made = await make(process);
    expect([...token.objects]).toEqual(owned());
    expect(pending()).toEqual([]);
    await remove(process, made);
    expect([[...token.objects], owned(), pending()]).toEqual([[], [], []]);
    expect(process.steps()).toBe(stepsOfALife);
  });

  test.each(faults)('a fault $when step $step, process ends: $ends: the token holds what has an owner', async (fault) => {
    const token = new Token();
    const process = startProcess(token, fault);
    await make(process)
      .then((made) => remove(process, made))
      .catch(() => undefined);
    const { ledger } = fault.ends ? startProcess(token) : process;
    await ledger.sweep();
    expect([...token.objects].toSorted()).toEqual(owned());
    clock.advance(longestMakingSeconds + 1);
    await ledger.sweep();
    expect([...token.objects].toSorted()).toEqual(owned());
    expect(pending()).toEqual([]);
    await clear();
  });

  test('in wrapped custody it is not in the ledger', async () => {
    const { ledger, steps } = startProcess(new Token());
    expect(await ledger.reserve('aes-256', binding, 'wrapped')).toBeUndefined();
    expect([steps(), pending()]).toEqual([1, []]);
  });
});

describe('making a key that fails', () => {
  const general = (): HsmError => new HsmError('unavailable', 'C_GenerateKey returned CKR_GENERAL_ERROR');

  test('in a way that may pass is done once more under another id, and what the first attempt left is destroyed', async () => {
    const token = new Token();
    const { ledger, write, generate } = startProcess(token);
    const attempts: StoredKey[] = [];
    const stored = await ledger.make('aes-256', binding, 'token', async (reserved) => {
      if (reserved === undefined) throw new Error('a token key was not reserved');
      attempts.push(reserved);
      await generate(reserved);
      if (attempts.length === 1) throw general();
      return reserved;
    });
    expect([attempts.length, attempts[1]]).toEqual([2, stored]);
    expect([...token.objects]).toEqual([stored.mac.toHex()]);
    await write((transaction) => ledger.claim(transaction, [{ stored, binding }]));
    await expect(write((transaction) => ledger.claim(transaction, [{ stored: attempts[0] as StoredKey, binding }]))).rejects.toMatchObject({
      code: 'conflict',
    });
    await ledger.destroy([{ stored, binding }]);
    token.objects.clear();
    await clear();
  });

  test('leaves its reservation to the next start, because this process may not see the object that it made', async () => {
    const token = new Token();
    const { ledger } = startProcess(token);
    const unseen: string[] = [];
    const making = ledger.make('aes-256', binding, 'token', async (reserved) => {
      unseen.push((reserved as StoredKey).mac.toHex());
      throw new HsmError('key-missing', 'the key is no longer in its token');
    });
    await expect(making).rejects.toMatchObject({ kind: 'key-missing' });
    expect(unseen).toHaveLength(2);
    for (const object of unseen) token.objects.add(object);
    await startProcess(token).ledger.sweep();
    expect(token.objects.size).toBe(0);
    await clear();
  });

  test('in wrapped custody is done once more, and for good after that', async () => {
    const { ledger } = startProcess(new Token());
    let attempts = 0;
    const making = ledger.make('aes-256', binding, 'wrapped', async () => {
      attempts += 1;
      throw general();
    });
    await expect(making).rejects.toThrow('CKR_GENERAL_ERROR');
    expect([attempts, pending()]).toEqual([2, []]);
  });

  test('for good is not repeated, and leaves nothing', async () => {
    const token = new Token();
    const { ledger, generate } = startProcess(token);
    let attempts = 0;
    const making = ledger.make('aes-256', binding, 'token', async (reserved) => {
      attempts += 1;
      await generate(reserved as StoredKey);
      throw new HsmError('invalid-key-data', 'the token refused the key material');
    });
    await expect(making).rejects.toMatchObject({ kind: 'invalid-key-data' });
    expect([attempts, token.objects.size, pending()]).toEqual([1, 0, []]);
  });
});

describe('a reservation', () => {
  async function reserved({ ledger }: Process): Promise<KeyReference> {
    const stored = await ledger.reserve('aes-256', binding, 'token');
    return { stored: stored as StoredKey, binding };
  }

  test('of this process is left alone until it is too old', async () => {
    const token = new Token();
    const process = startProcess(token);
    const mine = await reserved(process);
    await process.generate(mine.stored);
    clock.advance(longestMakingSeconds - 1);
    await process.ledger.sweep();
    expect(token.objects.size).toBe(1);
    clock.advance(2);
    await process.ledger.sweep();
    expect([token.objects.size, pending()]).toEqual([0, []]);
  });

  test('of an earlier process that still runs cannot be claimed, and its object is destroyed even when it is generated late', async () => {
    const token = new Token();
    const earlier = startProcess(token);
    const late = await reserved(earlier);
    const { ledger } = startProcess(token);
    await ledger.sweep();
    await earlier.generate(late.stored);
    await expect(store.write((transaction) => earlier.ledger.claim(transaction, [late]))).rejects.toMatchObject({ code: 'conflict' });
    await ledger.sweep();
    expect(token.objects.size).toBe(0);
    clock.advance(longestMakingSeconds + 1);
    await ledger.sweep();
    expect(pending()).toEqual([]);
  });

  test('is claimed once', async () => {
    const token = new Token();
    const process = startProcess(token);
    const { stored } = await make(process);
    const again = store.write((transaction) => process.ledger.claim(transaction, [{ stored, binding }]));
    await expect(again).rejects.toMatchObject({ code: 'conflict', details: { overtaken: true } });
    await process.ledger.destroy([{ stored, binding }]);
    expect([...token.objects]).toEqual(owned());
    await clear();
  });
});

describe('while the token is away', () => {
  test('a removed key waits for it, and the log says so', async () => {
    const token = new Token();
    const process = startProcess(token);
    const made = await make(process);
    token.isAway = true;
    warnings.length = 0;
    await remove(process, made);
    expect(await process.ledger.destroyAllOf(binding.keyId)).toBe(false);
    expect([pending().length, warnings.length]).toEqual([1, 2]);
    token.isAway = false;
    expect(await process.ledger.destroyAllOf(binding.keyId)).toBe(true);
    expect([token.objects.size, pending()]).toEqual([0, []]);
  });

  test('all of a key id includes what is being made for it', async () => {
    const token = new Token();
    const process = startProcess(token);
    const stored = (await process.ledger.reserve('aes-256', binding, 'token')) as StoredKey;
    await process.generate(stored);
    expect(await process.ledger.destroyAllOf('another-key')).toBe(true);
    expect(token.objects.size).toBe(1);
    expect(await process.ledger.destroyAllOf(binding.keyId)).toBe(true);
    expect(token.objects.size).toBe(0);
    await clear();
  });
});

describe('entries of earlier versions are finished', () => {
  const since = (): { micros: number; text: string } => {
    const now = clock.now();
    return { micros: now.epochMilliseconds * 1000, text: now.toString({ fractionalSecondDigits: 6 }) };
  };
  const formats: readonly (readonly [string, (reference: KeyReference) => object])[] = [
    ['of transit, disowned', (reference) => reference],
    ['of transit, reserved', (reference) => ({ ...reference, making: { since: since().micros, abandoned: false } })],
    ['of transit, abandoned', (reference) => ({ ...reference, making: { since: since().micros, abandoned: true } })],
    ['of the CA, unclaimed', (reference) => ({ ...reference, since: since().text, doomed: false })],
    ['of the CA, doomed', (reference) => ({ ...reference, since: since().text, doomed: true })],
  ];

  test.each(formats)('%s', async (_name, write) => {
    const token = new Token();
    const stored = (await token.reserve('aes-256', binding, 'token')) as StoredKey;
    await token.generate(stored);
    const record = write({ stored, binding }) as KeyLedgerRecord;
    await store.write((transaction) => transaction.put(entries, [binding.keyId, stored.mac.toHex()], record));
    const { ledger } = startProcess(token);
    await ledger.sweep();
    expect(token.objects.size).toBe(0);
    clock.advance(longestMakingSeconds + 1);
    await ledger.sweep();
    expect(pending()).toEqual([]);
  });

  test('an unclaimed key of the CA can still be claimed', async () => {
    const token = new Token();
    const { ledger } = startProcess(token);
    const stored = (await token.reserve('aes-256', binding, 'token')) as StoredKey;
    const entry: KeyLedgerRecord = { stored, binding, since: since().text, doomed: false };
    await store.write((transaction) => transaction.put(entries, [binding.keyId, stored.mac.toHex()], entry));
    store.refresh();
    expect([...ledger.entries()]).toMatchObject([{ making: { abandoned: false } }]);
    await store.write((transaction) => ledger.claim(transaction, [{ stored, binding }]));
    expect(pending()).toEqual([]);
  });
});

describe('of several appliances that share a store', () => {
  test('the sweep of one leaves alone what another is making, until it is too old', async () => {
    const token = new Token();
    const [maker, sweeper] = [startProcess(token, undefined, 'first'), startProcess(token, undefined, 'second')];
    const stored = (await maker.ledger.reserve('aes-256', binding, 'token')) as StoredKey;
    await maker.generate(stored);
    // Its process is younger than the reservation, as that of one that has just taken the jobs.
    const younger = startProcess(token, undefined, 'second');
    for (const { ledger } of [sweeper, younger]) await ledger.sweep();
    expect(token.objects.size).toBe(1);
    await maker.write((transaction) => maker.ledger.claim(transaction, [{ stored, binding }]));
    const lost = (await maker.ledger.reserve('aes-256', binding, 'token')) as StoredKey;
    await maker.generate(lost);
    clock.advance(longestMakingSeconds + 1);
    await younger.ledger.sweep();
    expect([token.objects.size, pending()]).toEqual([1, []]);
  });
});
