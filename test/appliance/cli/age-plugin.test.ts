// age-plugin: shows recipient and identity of a key, and answers the conversation in which programs ask plugins of age to open files.
import { mkdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { Decrypter, Encrypter } from 'age-encryption';
import { assert, property, uint8Array } from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeBech32, encodeBech32 } from '../../../appliance/cli/age/bech32.ts';
import { readStanzas, type Stanza, writeStanza } from '../../../appliance/cli/age/stanzas.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Ctl, ctlFor, type RunOptions } from './run.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
let appliance: TestAppliance;
let ctl: Ctl;
/** lines that age-plugin shows of version 1 of the key */
let shown: string;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startTestAppliance({ directory: path('appliance') });
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
  for (const [name, cipher] of [
    ['archive', 'x25519'],
    ['other', 'x25519'],
    ['signs', 'ed25519'],
    ['gcm', 'aes256-gcm96'],
  ])
    await appliance.request('POST', keys, { name, cipher });
  shown = (await ctl(['age-plugin', 'archive'])).stdout;
});
afterAll(() => appliance.close());

const partsOf = (text: string): { recipient: string; identity: string } => {
  const found = /^# public key: (age1[a-z0-9]{58})\n(AGE-PLUGIN-KEYSTORED-1[A-Z0-9]+)\n$/.exec(text);
  return { recipient: found?.[1] ?? '', identity: found?.[2] ?? '' };
};
const none = new Uint8Array(0);
const said = async (text: string): Promise<Stanza[]> => Array.fromAsync(readStanzas(Readable.from([text])));

/** Runs the conversation; every answer of the plugin is accepted. */
const converse = (state: string, ...asked: readonly Stanza[]) => converseIn({}, state, ...asked);

async function converseIn(
  options: Pick<RunOptions, 'environment'>,
  state: string,
  ...asked: readonly Stanza[]
): Promise<{ code: number; told: Stanza[] }> {
  const accepted = Array.from({ length: 10 }, () => ({ args: ['ok'], body: none }));
  const stdin = [...asked, { args: ['done'], body: none }, ...accepted].map(writeStanza).join('');
  const { code, stdout } = await ctl(['age-plugin', `--age-plugin=${state}`], { ...options, stdin: Buffer.from(stdin) });
  return { code, told: await said(stdout) };
}

/** Stanzas of the recipients of an age file, as a program hands them to a plugin. */
async function stanzasOf(file: Uint8Array, index = '0'): Promise<Stanza[]> {
  const header = Buffer.from(file).toString('latin1').split('\n---')[0]?.replace('age-encryption.org/v1\n', '') ?? '';
  return (await said(`${header}\n`)).map(({ args, body }) => ({ args: ['recipient-stanza', index, ...args], body }));
}

async function sealed(...recipients: readonly string[]): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return encrypter.encrypt('a backup');
}

async function openedWith(file: Uint8Array, fileKey: Uint8Array): Promise<string> {
  const decrypter = new Decrypter();
  decrypter.addIdentity({ unwrapFileKey: () => fileKey });
  return decrypter.decrypt(file, 'text');
}

const addIdentity = (text: string): Stanza => ({ args: ['add-identity', text], body: none });

describe('the key', () => {
  test('is shown by the version in use while a newer one waits for activate-after', async () => {
    const rotation = { 'rotate-after': '30d', 'activate-after': '1d' };
    await appliance.request('POST', keys, { name: 'waits', cipher: 'x25519', 'auto-rotate': rotation });
    await appliance.request('POST', '/v1/state/keystore/transit-keys/waits/rotate', {});
    expect((await ctl(['age-plugin', 'waits', '--key-version', '2'])).code).toBe(0);
    expect((await ctl(['age-plugin', 'waits'])).stdout).toBe((await ctl(['age-plugin', 'waits', '--key-version', '1'])).stdout);
  });

  test('is shown as recipient and identity of a version', async () => {
    const { recipient, identity } = partsOf(shown);
    expect(Buffer.from(decodeBech32('age-plugin-keystored-', identity) ?? []).toString()).toBe('archive/1');
    await appliance.request('POST', '/v1/state/keystore/transit-keys/other/rotate', {});
    const newest = partsOf((await ctl(['age-plugin', 'other'])).stdout);
    const first = partsOf((await ctl(['age-plugin', 'other', '--key-version', '1'])).stdout);
    expect(new Set([recipient, newest.recipient, first.recipient, '']).size).toBe(4);
    expect((await ctl(['age-plugin', 'other', '--key-version', '3'])).code).toBe(4);
  });

  test('is refused where age has no such key', async () => {
    expect(await ctl(['age-plugin', 'signs'])).toMatchObject({ code: 2, stderr: expect.stringContaining('cipher x25519') as unknown });
    expect((await ctl(['age-plugin', 'gcm'])).code).toBe(2);
    expect((await ctl(['age-plugin', 'nothing'])).code).toBe(4);
    expect((await ctl(['age-plugin'])).code).toBe(1);
  });
});

describe('the conversation', () => {
  test('opens the stanza that is for the key, among others, in several files', async () => {
    const { recipient, identity } = partsOf(shown);
    const elsewhere = partsOf((await ctl(['age-plugin', 'other', '--key-version', '2'])).stdout).recipient;
    const files = [await sealed(elsewhere, recipient), await sealed(elsewhere), await sealed(recipient)];
    const stanzas = (await Promise.all(files.map((file, at) => stanzasOf(file, String(at))))).flat();
    const grease = { args: ['grease-x', 'y'], body: Buffer.alloc(48, 7) };
    const scrypt = { args: ['recipient-stanza', '0', 'scrypt', 'salt', '18'], body: Buffer.alloc(32) };
    const malformed = { args: ['recipient-stanza', '0', 'X25519', 'AAAA'], body: Buffer.alloc(32) };
    const { code, told } = await converse('identity-v1', addIdentity(identity), grease, scrypt, malformed, ...stanzas);
    expect(code).toBe(0);
    expect(told.map(({ args }) => args)).toEqual([['file-key', '0'], ['file-key', '2'], ['done']]);
    expect(await openedWith(files[0] as Uint8Array, told[0]?.body as Uint8Array)).toBe('a backup');
    expect(await openedWith(files[2] as Uint8Array, told[1]?.body as Uint8Array)).toBe('a backup');
  });

  test('says why a key is refused, and which identity is none of its own', async () => {
    const { recipient } = partsOf(shown);
    const stanzas = await stanzasOf(await sealed(recipient));
    const absent = encodeBech32('age-plugin-keystored-', Buffer.from('absent/1')).toUpperCase();
    const trimmed = encodeBech32('age-plugin-keystored-', Buffer.from('archive/9')).toUpperCase();
    for (const identity of [absent, trimmed]) {
      const { told } = await converse('identity-v1', addIdentity(identity), ...stanzas);
      // After an error age would try no other identity.
      expect(told.map(({ args }) => args)).toEqual([['msg'], ['done']]);
      expect(Buffer.from(told[0]?.body ?? []).toString()).not.toBe('');
    }
    const beside = [absent, trimmed, partsOf(shown).identity].map(addIdentity);
    const { told: opened } = await converse('identity-v1', ...beside, ...stanzas);
    expect(opened.map(({ args }) => args)).toEqual([['file-key', '0'], ['done']]);
    const away = { environment: { KEYSTORED_URL: 'https://127.0.0.1:1' } };
    const lost = [addIdentity(partsOf(shown).identity), ...stanzas];
    expect((await converseIn(away, 'identity-v1', ...lost)).told.map(({ args }) => args)).toEqual([['msg'], ['done']]);
    const { told } = await converse('identity-v1', addIdentity('AGE-PLUGIN-KEYSTORED-1QQQ'), ...stanzas);
    expect(told.map(({ args }) => args)).toEqual([['error', 'identity', '0'], ['done']]);
  });

  test('encrypts nothing, because every age does', async () => {
    const { told } = await converse('recipient-v1', addIdentity(partsOf(shown).identity), {
      args: ['wrap-file-key'],
      body: Buffer.alloc(16),
    });
    expect(told.map(({ args }) => args)).toEqual([['error', 'internal'], ['done']]);
  });

  test('ends with an error for what is no conversation', async () => {
    for (const stdin of ['', 'hello\n', '-> \n\n', `-> done\n${'A'.repeat(64)}\n`, '-> x\n!!!!\n', `-> x\n${'A'.repeat(65)}\n`])
      expect((await ctl(['age-plugin', '--age-plugin=identity-v1'], { stdin: Buffer.from(stdin) })).code, stdin).not.toBe(0);
  });
});

test('stanzas are read as they were written, with bodies of every length', async () => {
  for (const length of [0, 1, 32, 47, 48, 49, 96, 1_000]) {
    const stanza = { args: ['a', 'b'], body: new Uint8Array(length).fill(length) };
    expect(await said(writeStanza(stanza))).toEqual([stanza]);
  }
});

test('Bech32 is that of BIP 173', () => {
  expect(decodeBech32('a', 'A12UEL5L')).toEqual(none);
  expect(decodeBech32('a', 'a12uel5L')).toBeUndefined();
  expect(decodeBech32('b', 'a12uel5l')).toBeUndefined();
  expect(decodeBech32('a', 'a12uel5m')).toBeUndefined();
  assert(
    property(uint8Array({ maxLength: 100 }), (octets) => {
      const text = encodeBech32('age', octets);
      expect(decodeBech32('age', text)).toEqual(octets);
      expect(decodeBech32('age', text.toUpperCase())).toEqual(octets);
    }),
  );
});
