// Initialising a token: faults are reported before any change, and an interrupted run is completed, not started again.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { describeModule, initialiseSoftToken, prepareToken, softhsmConf } from '../../hsm/setup/setup.ts';
import { softhsmModule, testHsmConfig } from '../harness/token/softhsm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const label = 'to be made';
let number = 0;
let directory: string;
let environment: Record<string, string>;

beforeEach(() => {
  directory = path(`module-${++number}`);
  environment = { SOFTHSM2_CONF: join(directory, 'softhsm.conf') };
  mkdirSync(join(directory, 'tokens'), { recursive: true });
  writeFileSync(environment['SOFTHSM2_CONF'] as string, softhsmConf(join(directory, 'tokens')));
});

const made = (): string[] =>
  readdirSync(join(directory, 'tokens'), { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []));

function pinFile(content: string | Uint8Array): { file: string } {
  const file = join(directory, `pin-${++number}`);
  writeFileSync(file, content);
  return { file };
}

type Given = { label?: string; pin?: string | Uint8Array; soPin?: string | Uint8Array };

function newToken(given: Given = {}): TokenConfig & { label: string; soPin: { file: string } } {
  const pins = { pin: pinFile(given.pin ?? 'user-pin'), soPin: pinFile(given.soPin ?? 'so-pin') };
  return { name: 'made', module: softhsmModule, label: given.label ?? label, environment, ...pins };
}

describe('is refused with nothing made', () => {
  const labels = {
    'no label': '',
    '33 octets': 'x'.repeat(33),
    '17 characters of 34 octets': 'ü'.repeat(17),
    'a blank at its end': 'a ',
    'a line break': 'a\nb',
  };
  test.each(Object.entries(labels))('a label that C_InitToken cannot hold: %s', async (_name, odd) => {
    const refusal = { kind: 'configuration', message: expect.stringContaining('a label has 1 to 32 octets') };
    await expect(initialiseSoftToken(newToken({ label: odd }))).rejects.toMatchObject(refusal);
    expect(made()).toEqual([]);
  });

  const long = 'x'.repeat(256);
  const lengths = {
    'a short user PIN': { pin: '123' },
    'a long one': { pin: long },
    'a short SO PIN': { soPin: '123' },
    'a long SO PIN': { soPin: long },
  };
  test.each(Object.entries(lengths))('a PIN of a length that the token does not accept: %s', async (_name, given) => {
    const refusal = {
      kind: 'refused',
      message: expect.stringMatching(/does not accept a (user|SO) PIN of \d+ octets: it must have 4 to 255/),
    };
    await expect(initialiseSoftToken(newToken(given))).rejects.toMatchObject(refusal);
    expect(made()).toEqual([]);
  });

  test('a PIN file that is not UTF-8', async () => {
    const refusal = { kind: 'configuration', message: expect.stringMatching(/^PIN file .* is not text/) };
    await expect(initialiseSoftToken(newToken({ pin: Buffer.from('fffefdfcfb', 'hex') }))).rejects.toMatchObject(refusal);
    expect(made()).toEqual([]);
  });

  test('a module that does not start: the message names it and what to check', async () => {
    const nowhere = { ...newToken(), environment: { SOFTHSM2_CONF: join(directory, 'absent') } };
    const message = expect.stringMatching(
      /^PKCS#11 module \S*libsofthsm2\.so does not start: C_Initialize returned CKR_\w+; check .*environment/,
    );
    await expect(initialiseSoftToken(nowhere)).rejects.toMatchObject({ message });
  });
});

test.each(['x'.repeat(32), 'ü'.repeat(16), ' a', '🔑 key', '-a/b'])(
  'the label "%s" is stored completely and finds its token',
  async (odd) => {
    const token = newToken({ label: odd });
    await initialiseSoftToken(token);
    await prepareToken(token);
    expect((await describeModule(softhsmModule, { environment })).slots[0]?.label).toBe(odd);
    // What the module has read: the label and blanks, and nothing that happens to be behind it.
    const stored = readFileSync(join(directory, 'tokens', made()[0] as string, 'token.object'));
    expect(stored.includes(Buffer.from(odd + ' '.repeat(32 - Buffer.byteLength(odd))))).toBe(true);
  },
);

describe('a token that is half-initialised, without a user PIN', () => {
  beforeEach(() => {
    const words = ['--module', softhsmModule, '--init-token', '--slot-index', '0', '--label', label, '--so-pin', 'so-pin'];
    execFileSync('pkcs11-tool', words, { env: { ...process.env, ...environment }, stdio: 'ignore' });
  });

  test('gets one; no second token of that label is made', async () => {
    const token = newToken();
    expect(await initialiseSoftToken(token)).toBe('finished');
    expect(made()).toHaveLength(1);
    await prepareToken(token);
    await (await openHsm(testHsmConfig(token))).close();
  });

  test('is made whole when a login was killed that had emptied its file; no copy stays', async () => {
    const [folder = ''] = made();
    const file = join(directory, 'tokens', folder, 'token.object');
    copyFileSync(file, join(directory, 'tokens', `${folder}.token.copy`));
    truncateSync(file);
    expect(await initialiseSoftToken(newToken())).toBe('finished');
    expect(readdirSync(join(directory, 'tokens'))).toEqual([folder]);
  });

  test('keeps its SO PIN', async () => {
    const refusal = {
      kind: 'pin-refused',
      message: expect.stringContaining('does not accept the SO PIN: C_Login returned CKR_PIN_INCORRECT'),
    };
    await expect(initialiseSoftToken(newToken({ soPin: 'another' }))).rejects.toMatchObject(refusal);
    expect(made()).toHaveLength(1);
  });
});

test('nothing stays among the tokens of a directory but the tokens, and what was there before', async () => {
  const first = newToken({ label: 'of others' });
  await initialiseSoftToken(first);
  const [others = ''] = made();
  expect(readdirSync(join(directory, 'tokens'))).toEqual([others]);
  await prepareToken(first);
  const before = readdirSync(join(directory, 'tokens'));
  expect(before).toContain(`${others}.token.copy`);
  await initialiseSoftToken(newToken());
  const [own = ''] = made().filter((name) => name !== others);
  expect(readdirSync(join(directory, 'tokens')).toSorted()).toEqual([own, ...before.filter((name) => name !== 'start.lock')].toSorted());
  // A refusal takes away as much.
  await expect(initialiseSoftToken(newToken({ label: 'third', pin: '123' }))).rejects.toMatchObject({ kind: 'refused' });
  expect(readdirSync(join(directory, 'tokens')).filter((name) => name.startsWith(own))).toEqual([own]);
});

test('a token that a run has completed is refused, and what to do if that was cut off is said; it can be prepared', async () => {
  const token = newToken();
  expect(await initialiseSoftToken(token)).toBe('made');
  const refusal = {
    kind: 'configuration',
    message: expect.stringMatching(/exists in .*: if an earlier run was interrupted, it is complete/),
  };
  await expect(initialiseSoftToken(token)).rejects.toMatchObject(refusal);
  expect(made()).toHaveLength(1);
  await prepareToken(token);
  await (await openHsm(testHsmConfig(token))).close();
});

test('describing a missing module names it, too', async () => {
  await expect(describeModule('/nowhere/libnone.so')).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringMatching(/^PKCS#11 module \/nowhere\/libnone\.so cannot be loaded/),
  });
});

test('an unknown serial: the message lists the known ones', async () => {
  const token = newToken();
  await initialiseSoftToken(token);
  const [slot] = (await describeModule(softhsmModule, { environment })).slots;
  const { label: _, ...rest } = token;
  await expect(prepareToken({ ...rest, serial: 'none' })).rejects.toMatchObject({
    message: expect.stringContaining(`serials seen: "${slot?.serial}"`),
  });
});
