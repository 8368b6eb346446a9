// Contexts in both spellings, text and octets: the same octets are the same context, for keys, for limits of policies, and in the trail.
import { generateKeyPairSync, sign as nodeSign } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;
beforeAll(async () => {
  harness = await startTransitHarness(directory('contexts'));
  await harness.create('plain');
  await harness.create('derived', { derived: true });
  await harness.create('convergent', { derived: true, 'convergent-encryption': true });
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const octets = Uint8Array.from([0xc3, 0x28, 0, 0xff]);
const text = base64('a record');

describe('of derived keys', () => {
  test('text and octets of its UTF-8 are one context', async () => {
    const bound = { plaintext: text, context: 'Kundin 4711 – Köln' };
    const { ciphertext } = await harness.do('convergent', 'encrypt', bound);
    const asOctets = { 'context-base64': base64(bound.context) };
    expect((await harness.do('convergent', 'encrypt', { plaintext: text, ...asOctets })).ciphertext).toBe(ciphertext);
    expect((await harness.do('convergent', 'decrypt', { ciphertext, ...asOctets })).plaintext).toBe(text);
    await harness.refused(400, 'decryption-failed', 'convergent', 'decrypt', { ciphertext, context: asOctets['context-base64'] });
  });

  test('octets that are no text derive in every action, and only they open', async () => {
    const bound = { 'context-base64': base64(octets) };
    const { ciphertext } = await harness.do('derived', 'encrypt', { plaintext: text, ...bound });
    const { ciphertext: moved } = await harness.do('derived', 'rewrap', { ciphertext, ...bound });
    const key = await harness.do('derived', 'generate-data-key', { type: 'plaintext', ...bound });
    const batch = [ciphertext, moved, key.ciphertext].map((one) => ({ ciphertext: one, ...bound }));
    const { 'batch-results': results } = await harness.do('derived', 'decrypt-batch', { 'batch-input': batch });
    expect(results.map(({ plaintext }: { plaintext: string }) => plaintext)).toEqual([text, text, key.plaintext]);
    const others = [{ 'context-base64': base64(octets.subarray(1)) }, { context: new TextDecoder().decode(octets) }];
    for (const other of others) await harness.refused(400, 'decryption-failed', 'derived', 'decrypt', { ciphertext, ...other });
  });

  test('a context is given once, in 1 to 4,096 octets, and to derived keys alone', async () => {
    const refused = (code: string, name: string, fields: object) =>
      harness.refused(400, code, name, 'encrypt', { plaintext: text, ...fields });
    await refused('invalid-value', 'derived', { context: 'c', 'context-base64': base64('c') });
    await refused('invalid-value', 'derived', { 'context-base64': '' });
    await refused('invalid-value', 'derived', { 'context-base64': base64(new Uint8Array(4_097)) });
    await refused('invalid-base64', 'derived', { 'context-base64': 'c' });
    await refused('context-not-allowed', 'plain', { 'context-base64': base64('c') });
    await harness.do('derived', 'encrypt', { plaintext: text, 'context-base64': base64(new Uint8Array(4_096)) });
  });

  test('are in no record, in neither spelling', async () => {
    const secret = 'geheim-77e1';
    await harness.do('derived', 'encrypt', { plaintext: text, 'context-base64': base64(secret) });
    await harness.do('derived', 'encrypt-batch', { 'batch-input': [{ plaintext: text, context: secret }] });
    await harness.act('derived', 'encrypt', { plaintext: text, 'context-base64': secret });
    for (const one of [secret, base64(secret)]) expect(harness.written()).not.toContain(one);
    expect(harness.records().at(-3)).toMatchObject({ 'request-parameters': { 'context-base64': { bytes: secret.length } } });
  });
});

test('a context of a signature is in the trail in base64, however it was sent, alone and in a batch', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  await harness.create('theirs', { cipher: 'ed25519', 'public-key': publicKey.export({ type: 'spki', format: 'pem' }) });
  // As text these are base64 as well, of other octets.
  const context = 'orders==';
  const made = nodeSign(null, Buffer.from('a record'), { key: privateKey, context: Buffer.from(context) });
  const signature = `store:v1:${made.toString('base64')}`;
  const spellings = [
    { text: 'a record', context, 'base64-encoded': false },
    { text, context: base64(context) },
  ];
  for (const spelling of spellings) {
    expect((await harness.do('theirs', 'verify', { signature, ...spelling })).valid).toBe(true);
    expect(harness.records().at(-1)).toMatchObject({ 'request-parameters': { context: base64(context) } });
  }
  await harness.do('theirs', 'verify-batch', { 'batch-input': spellings.map((spelling) => ({ signature, ...spelling })) });
  expect(harness.records().at(-1)).toMatchObject({ 'request-parameters': { items: 2, context: [base64(context)] } });
});
