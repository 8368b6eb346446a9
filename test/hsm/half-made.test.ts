// An own key that a kill or a power cut left without a value: SoftHSM writes the object with its label first, and the value after that.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import type { TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { prepareToken } from '../../hsm/setup/setup.ts';
import { makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
const labels = ['keystored-wrapping-key', 'keystored-binding-key'] as const;
const message = Buffer.from('message');

type Attribute = { readonly type: number; readonly octets: 'boolean' | 'bytes' };

/** CKA_VALUE, CKA_CHECK_VALUE, CKA_LOCAL: what SoftHSM adds in its last write. */
const lastWritten: readonly Attribute[] = [
  { type: 0x11, octets: 'bytes' },
  { type: 0x90, octets: 'bytes' },
  { type: 0x163, octets: 'boolean' },
];

const typeOf = { 'keystored-wrapping-key': 0x1f, 'keystored-binding-key': 0x10 } as const;

/** CKA_KEY_TYPE as SoftHSM writes it; labels are encrypted. */
function isOfType(contents: Buffer, type: number): boolean {
  const attribute = Buffer.alloc(24);
  for (const [index, word] of [0x100, 2, type].entries()) attribute.writeUInt32BE(word, 8 * index + 4);
  return contents.includes(attribute);
}

/** The files of the token's own keys with this label. */
function filesOf(token: TokenConfig, label: (typeof labels)[number]): string[] {
  const conf = readFileSync(token.environment?.['SOFTHSM2_CONF'] as string, 'utf8');
  const directory = /tokendir\s*=\s*(\S+)/.exec(conf)?.[1] as string;
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /-[^/]*\.object$/.test(basename(name))).map((name) => join(directory, name));
  return files.filter((file) => isOfType(readFileSync(file), typeOf[label]));
}

/** Puts the file of an own key back to the write before the last. */
function halve(file: string | undefined, lost = lastWritten): void {
  if (file === undefined) throw new Error('the key has no file');
  writeFileSync(file, lost.reduce(without, readFileSync(file)));
}

function without(contents: Buffer, { type, octets }: Attribute): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(type, 4);
  head.writeUInt32BE(octets === 'bytes' ? 3 : 1, 12);
  const at = contents.indexOf(head) + head.length;
  expect(at).toBeGreaterThan(head.length);
  if (octets === 'boolean') return Buffer.concat([contents.subarray(0, at), Buffer.of(0), contents.subarray(at + 1)]);
  const length = contents.readUInt32BE(at + 4);
  return Buffer.concat([contents.subarray(0, at), Buffer.alloc(8), contents.subarray(at + 8 + length)]);
}

test.each([[labels[0]], [labels[1]], labels])('a first start that left %s %s half made is finished by the next', async (...left) => {
  const token = await makeSoftToken(path(), `first-${left.length}-${left[0].length}`);
  const wanted = left.filter((label) => label !== undefined);
  for (const label of wanted) halve(filesOf(token, label)[0]);
  expect(await prepareToken(token)).toEqual(labels.filter((label) => wanted.includes(label)));
  const hsm = await openHsm(testHsmConfig(token));
  const { key } = await makeKey(hsm, 'aes-256', 'k');
  expect(Buffer.from(await hsm.decrypt(key, await hsm.encrypt(key, message)))).toEqual(message);
  await hsm.close();
  expect(await prepareToken(token)).toEqual([]);
});

test('a rotation that left its key half made wraps nothing under it, and the next one makes it', async () => {
  const token = await makeSoftToken(path(), 'rotated');
  const before = await openHsm(testHsmConfig(token));
  const { key } = await makeKey(before, 'aes-256', 'before');
  const first = filesOf(token, labels[0]);
  expect(await before.wrappingKeys.makeNext(token.name, 1)).toBe(2);
  await before.close();
  halve(filesOf(token, labels[0]).find((file) => !first.includes(file)));
  const hsm = await openHsm(testHsmConfig(token));
  const made = (await makeKey(hsm, 'aes-256', 'beside')).key;
  expect([hsm.wrappingKeys.numberOf(made.stored), await hsm.wrappingKeys.list(token.name)]).toEqual([1, [1]]);
  expect(await hsm.wrappingKeys.makeNext(token.name, 1)).toBe(2);
  const moved = { ...key, stored: await hsm.wrappingKeys.rewrap(key) };
  expect(hsm.wrappingKeys.numberOf(moved.stored)).toBe(2);
  expect(Buffer.from(await hsm.decrypt(moved, await hsm.encrypt(key, message)))).toEqual(message);
  await hsm.close();
});

test('a whole key whose value was lost later is neither made again nor destroyed', async () => {
  const token = await makeSoftToken(path(), 'damaged');
  halve(filesOf(token, labels[0])[0], lastWritten.slice(0, 1));
  expect(await prepareToken(token)).toEqual([]);
  await expect(openHsm(testHsmConfig(token))).rejects.toThrow(/CKR_GENERAL_ERROR|wrong answer/);
  expect(filesOf(token, labels[0])).toHaveLength(1);
});
