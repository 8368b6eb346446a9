// npm test -- image cuts: the mains fail right after acknowledged changes, again and again, and during the first start.
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { cipherNames } from '../../plugins/transit/ciphers.ts';
import { keepResult } from '../harness/drill-result.ts';
import { patienceMs } from '../harness/patience.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { provideImage } from './build.ts';
import { type Change, changes, creationOf, type Connection, type Kept } from './changes.ts';
import { checkState } from './disk.ts';
import { Machine } from './machine.ts';

const path = temporaryDirectory();
const cuts = Number(process.env['KEYSTORED_TEST_CUTS'] ?? 20);
/** The check of the stopped appliance takes as long as a start. */
const cutsPerCheck = 5;
const changesPerCut = 6;
const sound = 'every invariant holds';
const keys = '/v1/config/keystore/transit-keys';

/** SoftHSM2 makes no ML-DSA keys. */
const creations = cipherNames
  .filter((name) => !name.startsWith('ml-dsa'))
  .map((cipher) => [`create ${cipher}`, creationOf(cipher)] as const);
const kinds: readonly (readonly [string, Change])[] = [
  ...Object.entries(changes),
  ...creations,
  ['create in the token', creationOf('aes256-gcm96', { custody: 'token' })],
];

/** The key of the state, the partitions, the file system, the token, the CA. What was finished at one cut is found at the next start. */
const momentsOfFirstStart: readonly (readonly [string, (one: Machine) => Promise<unknown>])[] = [
  ...[1, 1 << 20, 24 << 20, 64 << 20].map((bytes) => [`${bytes} octets were written`, (one: Machine) => one.written(bytes)] as const),
  ['the screen was there', (one) => one.shown(/^CA SHA-256 +not made yet$/)],
  ['the CA was there', (one) => one.shown(/^CA SHA-256 +[0-9A-F]{2}:/)],
];

let image = '';
let machine: Machine;
let rootToken = '';
/** what was acknowledged since the beginning */
const ledger = new Map<string, Kept>();
const keysInPassing: string[] = [];
const connection: Connection = { exchange: (method, where, body, token = rootToken) => machine.exchange(method, where, body, token) };

beforeAll(async () => {
  image = provideImage(path('image'));
  machine = await Machine.start({ directory: path(), image });
  await machine.serves();
  rootToken = await machine.claim();
});

afterAll(() => Machine.endAll());

test.for(Array.from({ length: cuts }, (_, index) => index))('cut %i takes nothing that was acknowledged', async (number) => {
  const made = await changeUntilCut(number);
  const found = number % cutsPerCheck === 0 ? checkState(path()) : sound;
  expect(found, made).toBe(sound);
  machine = await Machine.start({ directory: path(), image });
  await machine.serves();
  await vi.waitFor(saysThatItIsWell, { timeout: patienceMs, interval: 1_000 });
  const { body: names } = await connection.exchange('GET', `${keys}?keys=true`);
  expect(names).toEqual(expect.arrayContaining(keysInPassing));
  for (const [what, kept] of ledger) {
    await kept().catch((error: unknown) => {
      throw new Error(`after cut ${number} (${made}) this is not as it was acknowledged: ${what}`, { cause: error });
    });
  }
  console.log(`cut ${number}: ${made}; ${ledger.size} changes and ${keysInPassing.length} more keys are there`);
});

test('after all cuts it is switched off, and its state is sound', () =>
  // Each test goes on where the one before has ended, and a find ends the drill: this one runs when all of them held.
  keepResult({ name: 'image/cuts', command: `KEYSTORED_TEST_CUTS=${cuts} npm test -- image cuts` }, async (figures) => {
    Object.assign(figures, { cuts, changes: ledger.size, 'keys made in passing': keysInPassing.length });
    await machine.powerOff();
    expect(checkState(path())).toBe(sound);
  }));

test('a first start that is cut at one moment after the other is finished by the next one', () =>
  keepResult({ name: 'image/first start', command: 'npm test -- image cuts' }, async (figures) => {
    const directory = path('first');
    mkdirSync(directory);
    for (const [moment, reached] of momentsOfFirstStart) {
      machine = await Machine.start({ directory, image });
      await reached(machine);
      await machine.cutPower();
      figures['cuts'] = (figures['cuts'] ?? 0) + 1;
      console.log(`the first start was cut: ${moment}`);
    }
    machine = await Machine.start({ directory, image });
    await machine.serves();
    rootToken = await machine.claim();
    const kept = await creationOf('ecdsa-p256')(connection, 'first');
    await kept();
    await machine.powerOff();
    expect(checkState(directory)).toBe(sound);
  }));

/** Throws what is not. On a slow machine some part may be up a little later than the port. */
async function saysThatItIsWell(): Promise<void> {
  const { body } = await connection.exchange('GET', '/v1/state/system/health');
  if ((body as { readonly status?: string }).status !== 'ok') throw new Error(`the health is ${JSON.stringify(body)}`);
}

/** Makes changes, other keys in passing, and cuts the power right after the last answer. Answers which change that was. */
async function changeUntilCut(number: number): Promise<string> {
  let isCut = false;
  const passing = makeKeysInPassing(number).catch((error: unknown) => {
    if (!isCut) throw error;
  });
  let last = '';
  for (let index = number * changesPerCut; index < (number + 1) * changesPerCut; index++) {
    const [what, change] = kinds[index % kinds.length] as (typeof kinds)[number];
    last = what;
    ledger.set(`${what} (${index})`, await change(connection, `change-${index}`));
  }
  isCut = true;
  await machine.cutPower();
  await passing;
  return last;
}

/** So that something is always being written when the power goes. Ends with the machine. */
async function makeKeysInPassing(number: number): Promise<never> {
  for (let index = 0; ; index++) {
    const name = `passing-${number}-${index}`;
    const { status } = await connection.exchange('POST', keys, { name });
    if (status === 201) keysInPassing.push(name);
    else if (status !== 503) throw new Error(`the key ${name} was refused with ${status}`);
  }
}
