// The appliance image in a machine without a TPM: first start, a power cut right after the last answer, second start, switching off.
import { closeSync, openSync, readSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTool } from '../../appliance/packaging/image/tools.ts';
import { cipherNames } from '../../plugins/transit/ciphers.ts';
import { send } from '../setup/daemon.ts';
import { temporaryDirectory } from '../setup/temporary.ts';
import { provideImage } from './build.ts';
import { Machine, shownSecret } from './machine.ts';

const path = temporaryDirectory();
const directory = path();

/** SoftHSM2 makes no ML-DSA keys. */
const ciphers = cipherNames.filter((name) => !name.startsWith('ml-dsa'));
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const plaintext = Buffer.from('kept over a power cut').toString('base64');

let image = '';
let machine: Machine;
let rootToken = '';
let credential: Readonly<Record<string, string>> = {};
/** how each key is asked after the power cut, and what it has to answer */
const questions = new Map<string, { readonly action: string; readonly body: object; readonly answer: object }>();

beforeAll(() => {
  image = provideImage(path('image'));
});

afterAll(() => Machine.endAll());

test('a new machine shows the fingerprint of its CA and a credential that logs in once', async () => {
  machine = await Machine.start({ directory, image });
  await machine.serves();
  credential = await machine.credential();
  rootToken = await machine.claim();
  expect((await machine.exchange('POST', '/v1/approle-login', credential)).status).toBe(401);
});

test('what the EST port answers is a CA of the appliance', async () => {
  await ask('POST', '/v1/config/keystore/tls/ca', { name: 'devices', subject: 'CN=Devices', est: { enabled: true } });
  const { est } = (await ask('GET', '/v1/state/keystore/tls/ca/devices')) as { est: { 'https-url': string[] } };
  const { pathname } = new URL(est['https-url'][0] ?? '');
  const url = `https://127.0.0.1:${machine.estPort}${pathname}/cacerts`;
  const answer = await send({ url, method: 'GET', body: undefined, token: '', caPem: machine.caPem });
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': expect.stringContaining('application/pkcs7-mime') } });
});

test('keys of every kind are made, and the mains fail right after the last answer', async () => {
  for (const cipher of ciphers) await makeKey(cipher, { cipher });
  for (let number = 1; number <= 25; number++) await makeKey(`late-${number}`);
  expect(questions.size).toBe(ciphers.length + 25);
  await machine.cutPower();
});

test('after the power cut every key works, and the credential is neither shown nor good any more', async () => {
  machine = await Machine.start({ directory, image });
  await machine.serves();
  for (const [name, { action, body, answer }] of questions) {
    expect(await ask('POST', `${actions}/${name}/${action}`, body)).toMatchObject(answer);
  }
  expect(machine.console()).not.toMatch(new RegExp(shownSecret, 'm'));
  expect((await machine.exchange('POST', '/v1/approle-login', credential)).status).toBe(401);
});

test('the power button switches it off; the disk has two slots, and the state is encrypted', async () => {
  await machine.powerOff();
  const raw = path('disk.raw');
  runTool('qemu-img', ['convert', '-O', 'raw', path('disk.qcow2'), raw]);
  const { partitiontable } = JSON.parse(runTool('sfdisk', ['--json', raw])) as {
    partitiontable: { partitions: { name: string; start: number }[] };
  };
  const slot = expect.stringMatching(/^keystored_[\d.]+$/) as string;
  expect(partitiontable.partitions.map(({ name }) => name)).toEqual(['keystored-esp', slot, slot, '_empty', '_empty', 'keystored-var']);
  expect(readAt(raw, (partitiontable.partitions[5]?.start ?? 0) * 512, 6)).toEqual(Buffer.from('LUKS\xBA\xBE', 'latin1'));
});

/** Makes a key and has it encrypt, or sign where it cannot. */
async function makeKey(name: string, fields: { readonly cipher?: string } = {}): Promise<void> {
  await ask('POST', keys, { name, ...fields });
  if (fields.cipher?.startsWith('aes') ?? true) {
    const { ciphertext } = await ask('POST', `${actions}/${name}/encrypt`, { plaintext });
    questions.set(name, { action: 'decrypt', body: { ciphertext }, answer: { plaintext } });
  } else {
    const { signature } = await ask('POST', `${actions}/${name}/sign`, { text: plaintext });
    questions.set(name, { action: 'verify', body: { signature, text: plaintext }, answer: { valid: true } });
  }
}

function ask(method: string, url: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> {
  return machine.ask(method, url, body, rootToken);
}

function readAt(file: string, position: number, bytes: number): Buffer {
  const descriptor = openSync(file, 'r');
  const buffer = Buffer.alloc(bytes);
  readSync(descriptor, buffer, 0, bytes, position);
  closeSync(descriptor);
  return buffer;
}
