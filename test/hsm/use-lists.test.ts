// Lists of uses: each has its own outcome in its place, whatever the others are, and whatever becomes of the host.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HsmError, type Derivation, type Hsm, type KeyReference, type KeyUse, type UseOutcome } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import type { HsmEvent } from '../../hsm/client/options.ts';
import { joinCalls, readOutcomes } from '../../hsm/protocol/call-lists.ts';
import { call, flagDerived, flagList } from '../../hsm/protocol/operations.ts';
import { decodeMessage, encodeMessages } from '../../hsm/protocol/wire.ts';
import { bindingOf, makeKey, signatures } from '../harness/keys.ts';
import { makeSoftToken, makeSoftTokenForThisProcess, testHsmConfig } from '../harness/token/softhsm.ts';

const directory = mkdtempSync(join(tmpdir(), 'keystored-use-lists-'));
const message = Buffer.from('message');
const events: HsmEvent[] = [];
let hsm: Hsm;
let aes: KeyReference;
let other: KeyReference;
let secret: KeyReference;

beforeAll(async () => {
  const token = await makeSoftToken(directory);
  hsm = await openHsm(testHsmConfig(token), { onEvent: (event) => events.push(event) });
  [aes, other, secret] = [
    (await makeKey(hsm, 'aes-256', 'aes')).key,
    (await makeKey(hsm, 'aes-128', 'other')).key,
    (await makeKey(hsm, 'secret-256', 'secret')).key,
  ];
});

afterAll(async () => {
  await hsm.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('a list of uses', () => {
  test('of one key comes back in order, each with a nonce of its own', async () => {
    const plaintexts = Array.from({ length: 1_000 }, (_, at) => Buffer.from(`item ${at}`));
    const sealed = await octetsOf(plaintexts.map((octets) => ({ use: 'encrypt', key: aes, octets })));
    expect(new Set(sealed.map((one) => Buffer.from(one.subarray(0, 12)).toString('hex'))).size).toBe(1_000);
    const opened = await octetsOf(sealed.map((octets) => ({ use: 'decrypt', key: aes, octets })));
    expect(opened.map(String)).toEqual(plaintexts.map(String));
  });

  test('of several keys and operations is what each use is by itself', async () => {
    const { key: signer, publicKey } = await makeKey(hsm, 'ecdsa-p256', 'signer');
    const { key: rsa, publicKey: rsaPublic } = await makeKey(hsm, 'rsa-2048', 'rsa');
    const clear = await hsm.readKeyMaterialInClear(secret);
    const associatedData = Buffer.from('header');
    const nonce = randomBytes(12);
    const [ec, pkcs1] = [
      signatures('ecdsa-p256', message, publicKey as Uint8Array)[0],
      signatures('rsa-2048', message, rsaPublic as Uint8Array)[0],
    ];
    if (ec === undefined || pkcs1 === undefined) throw new Error('no signatures to make');
    for (let round = 0; round < 3; round++) {
      const [one, two, three, four, five, six, seven] = await octetsOf([
        { use: 'encrypt', key: aes, octets: message, associatedData, nonce },
        { use: 'hmac', key: secret, hash: 'sha256', octets: message },
        { use: 'sign', key: signer, scheme: ec.scheme },
        { use: 'hmac', key: secret, hash: 'sha512', octets: Buffer.alloc(0) },
        { use: 'encrypt', key: other, octets: Buffer.alloc(70_000, 1) },
        { use: 'sign', key: rsa, scheme: pkcs1.scheme },
        { use: 'hmac', key: secret, hash: 'sha256', octets: Buffer.from('other') },
      ]);
      expect(one).toEqual(await hsm.encrypt(aes, message, { associatedData, nonce }));
      expect(two).toEqual(createHmac('sha256', clear).update(message).digest());
      expect(ec.check(three as Uint8Array)).toBe(true);
      expect(four).toEqual(createHmac('sha512', clear).digest());
      expect(Buffer.from(await hsm.decrypt(other, five as Uint8Array)).equals(Buffer.alloc(70_000, 1))).toBe(true);
      expect(pkcs1.check(six as Uint8Array)).toBe(true);
      expect(seven).toEqual(createHmac('sha256', clear).update('other').digest());
    }
  });

  test('of derived keys keeps each context apart', async () => {
    const derivation = (context: string): Derivation => ({
      secret,
      contextHash: createHash('sha256').update(context).digest(),
      salt: Buffer.alloc(16, 5),
      iterations: 1_000,
      type: 'aes-256',
    });
    const contexts = ['a', 'b', 'a', 'a', 'b'];
    const sealed = await octetsOf(
      contexts.map((one) => ({ use: 'encrypt', key: { derivation: derivation(one) }, octets: Buffer.from(one) })),
    );
    for (const [at, one] of contexts.entries()) {
      expect(Buffer.from(await hsm.decrypt({ derivation: derivation(one) }, sealed[at] as Uint8Array)).toString()).toBe(one);
    }
    const crossed = await hsm.useAll(sealed.map((octets) => ({ use: 'decrypt', key: { derivation: derivation('b') }, octets })));
    expect(crossed.map(kindOf)).toEqual(['decryption-failed', 'done', 'decryption-failed', 'decryption-failed', 'done']);
  });

  test('fails item by item: a wrong input, a key of another kind, a blob of another record, a token that is not configured', async () => {
    const sealed = await hsm.encrypt(aes, message);
    const moved: KeyReference = { stored: other.stored, binding: bindingOf('elsewhere') };
    const away: KeyReference = { ...other, stored: { ...other.stored, token: 'away' } };
    const outcomes = await hsm.useAll([
      { use: 'decrypt', key: aes, octets: sealed },
      { use: 'decrypt', key: aes, octets: Buffer.alloc(40) },
      { use: 'decrypt', key: aes, octets: Buffer.alloc(3) },
      { use: 'decrypt', key: aes, octets: sealed },
      { use: 'encrypt', key: secret, octets: message },
      { use: 'encrypt', key: moved, octets: message },
      { use: 'encrypt', key: away, octets: message },
      { use: 'encrypt', key: aes, octets: 'no octets' as unknown as Uint8Array },
      { use: 'encrypt', key: other, octets: message },
    ]);
    const [done, failed] = ['done', 'decryption-failed'];
    expect(outcomes.map(kindOf)).toEqual([
      ...[done, failed, failed, done, 'refused', 'key-not-usable', 'token-not-configured', 'refused', done],
    ]);
  });

  test('counts each use in the latencies', async () => {
    const before = hsm.status()[0]?.latencies['hmac']?.count ?? 0;
    await octetsOf(Array.from({ length: 250 }, () => ({ use: 'hmac', key: secret, hash: 'sha256', octets: message })));
    const after = hsm.status()[0]?.latencies['hmac'];
    expect(after?.count).toBe(before + 250);
    expect(after?.perBound.reduce((sum, count) => sum + count, 0)).toBe(after?.count);
  });

  test('holds up others for a moment only: a single use that comes later is answered first', async () => {
    const inline = await openHsm(testHsmConfig(await makeSoftTokenForThisProcess(join(directory, 'inline'))), { inline: true });
    try {
      const { key } = await makeKey(inline, 'ed25519', 'signing');
      const order: string[] = [];
      const uses = Array.from({ length: 1_000 }, (): KeyUse => ({ use: 'sign', key, scheme: { scheme: 'ed25519', message } }));
      const listed = inline.useAll(uses).then((outcomes) => {
        order.push('list');
        return outcomes;
      });
      await new Promise(setImmediate);
      await inline.random(16).then(() => order.push('single'));
      expect((await listed).map(kindOf)).toEqual(uses.map(() => 'done'));
      expect(order).toEqual(['single', 'list']);
    } finally {
      await inline.close();
    }
  });

  test('and keys that are made together hold up others no longer', async () => {
    const inline = await openHsm(testHsmConfig(await makeSoftTokenForThisProcess(join(directory, 'making'))), { inline: true });
    try {
      const order: string[] = [];
      const making = Promise.all(Array.from({ length: 200 }, (_, at) => makeKey(inline, 'aes-256', `made-${at}`))).then((made) => {
        order.push('made');
        return made;
      });
      await new Promise(setImmediate);
      await inline.random(16).then(() => order.push('single'));
      const made = await making;
      expect(order).toEqual(['single', 'made']);
      const sealed = await inline.useAll(made.map(({ key }) => ({ use: 'encrypt', key, octets: message })));
      expect(sealed.map(kindOf)).toEqual(made.map(() => 'done'));
    } finally {
      await inline.close();
    }
  });

  test('is answered by the next host when its host is killed', async () => {
    const working = hsm.useAll(Array.from({ length: 500 }, () => ({ use: 'encrypt', key: aes, octets: message })));
    await new Promise(setImmediate);
    process.kill(events.findLast(({ kind }) => kind === 'token-up')?.pid as number, 'SIGKILL');
    expect((await working).map(kindOf)).toEqual(Array.from({ length: 500 }, () => 'done'));
  });

  test('of a closed token has an error in each place', async () => {
    const closed = await openHsm(testHsmConfig(await makeSoftToken(join(directory, 'closed'))));
    const { key } = await makeKey(closed, 'aes-256', 'closed');
    await closed.close();
    const outcomes = await closed.useAll(Array.from({ length: 3 }, () => ({ use: 'encrypt', key, octets: message })));
    expect(outcomes.map(kindOf)).toEqual(['unavailable', 'unavailable', 'unavailable']);
  });

  test('without uses has no outcomes', async () => {
    expect(await hsm.useAll([])).toEqual([]);
  });
});

describe('calls are joined', () => {
  const encrypting = (octets: Buffer): ReturnType<typeof call.encrypt> => call.encrypt(aes, octets);

  test('a hundred at most, and a mebibyte at most, in one job', () => {
    const sizes = (bytes: number, count: number): number[] =>
      joinCalls(Array.from({ length: count }, () => encrypting(Buffer.alloc(bytes)))).map(({ places }) => places.length);
    expect(sizes(64, 250)).toEqual([100, 100, 50]);
    expect(sizes(60_000, 40)).toEqual([17, 17, 6]);
    expect(sizes(65_536, 3)).toEqual([1, 1, 1]);
    expect(sizes(64, 1)).toEqual([1]);
  });

  test('slow signatures stay apart, so that threads share them', async () => {
    const { key } = await makeKey(hsm, 'rsa-2048', 'slow');
    const digest = Buffer.alloc(32);
    const calls = Array.from({ length: 5 }, () => call.sign(key, { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest }));
    expect(joinCalls(calls).map(({ call: { calls: joined } }) => joined)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  test('flags tell a list, and whether its key is derived', () => {
    const derivation: Derivation = { secret, contextHash: Buffer.alloc(32), salt: Buffer.alloc(16), iterations: 1, type: 'aes-256' };
    const calls = [encrypting(message), encrypting(message), call.encrypt({ derivation }, message), call.encrypt({ derivation }, message)];
    expect(joinCalls(calls).map(({ call: { flags, calls: joined } }) => [flags, joined])).toEqual([
      [flagList, 2],
      [flagList | flagDerived, 2],
    ]);
  });

  test.each([
    ['fewer outcomes', [Buffer.from([0, 0]), message]],
    ['more outcomes', [Buffer.from([0, 0]), message, message, message]],
    ['codes of other calls', [Buffer.from([0]), message, message]],
    ['an outcome that is absent', [Buffer.from([0, 0]), message, undefined]],
    ['no codes', [undefined, message, message]],
  ])('a result with %s is no result', (_fault, parts) => {
    const received = decodeMessage(encodeMessages([{ id: 1, code: 0, flags: 0, micros: 0, parts }]));
    expect(() => readOutcomes(received, 2)).toThrow(RangeError);
  });
});

async function octetsOf(uses: readonly KeyUse[]): Promise<readonly Uint8Array[]> {
  const outcomes = await hsm.useAll(uses);
  expect(outcomes.map(kindOf)).toEqual(uses.map(() => 'done'));
  return outcomes as readonly Uint8Array[];
}

function kindOf(outcome: UseOutcome): string {
  return outcome instanceof HsmError ? outcome.kind : 'done';
}
