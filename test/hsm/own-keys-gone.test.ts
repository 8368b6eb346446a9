// The objects of the token's own keys are removed while a process has copies of them. The test uses its own token, which is unusable
// afterwards.
import { copyFileSync, readdirSync, readFileSync, renameSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { encrypt } from '../../hsm/engine/operations/cipher.ts';
import { Engine, ModuleBroken } from '../../hsm/engine/engine.ts';
import { keyIdentity } from '../../hsm/protocol/key-encoding.ts';
import { generateKey } from '../../hsm/engine/operations/making.ts';
import { rewrapKey } from '../../hsm/engine/rotation.ts';
import { ownKeysGone, tokenAway } from '../../hsm/files/softhsm.ts';
import { performAll } from '../../hsm/host/perform.ts';
import { call, operations } from '../../hsm/protocol/operations.ts';
import { decodeMessage, encodeMessages, resultError, resultOk } from '../../hsm/protocol/wire.ts';
import { bindingOf } from '../harness/keys.ts';
import { makeSoftTokenForThisProcess } from '../harness/token/softhsm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const message = Buffer.from('message');

test('a key is not made while the own keys are gone from the token, although their copies continue to work', async () => {
  const token = await makeSoftTokenForThisProcess(path());
  const lone = new Engine({ token, cacheKeys: 10, pin: token.pin });
  const binding = bindingOf('kept');
  const making = { binding, custody: 'wrapped', extractable: true, under: 1 } as const;
  const { blob, mac } = generateKey(lone, 'aes-256', making);
  const reference = keyIdentity({ stored: { type: 'aes-256', custody: 'wrapped', token: token.name, blob, mac }, binding });
  const tokens = path('main-tokens');
  const tokenFile = join(
    tokens,
    readdirSync(tokens, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('token.object')) ?? '',
  );
  const contents = readFileSync(tokenFile);
  // SoftHSM leaves the file so for a moment whenever another process logs in.
  truncateSync(tokenFile);
  expect(() => lone.requireKept()).not.toThrow();
  writeFileSync(tokenFile, contents);
  const objects = readdirSync(tokens, { recursive: true, encoding: 'utf8' }).filter((name) => /[^n]\.object$/.test(name));
  for (const name of objects) renameSync(join(tokens, name), path(basename(name)));
  // Keys that are made together are refused together; other jobs among them are not.
  const jobs = [
    call.generate('aes-256', making),
    call.encrypt({ stored: { type: 'aes-256', custody: 'wrapped', token: token.name, blob, mac }, binding }, message),
    call.import('secret-256', making, Buffer.alloc(32, 7)),
    call.generate('secret-256', making),
  ].map(({ name, flags, parts }, id) => decodeMessage(encodeMessages([{ id, code: operations[name].code, flags, micros: 0, parts }])));
  const results = performAll(lone, jobs);
  expect(results.map(({ id, code }) => [id, code])).toEqual([
    ...[
      [0, resultError],
      [1, resultOk],
      [2, resultError],
      [3, resultError],
    ],
  ]);
  const refusals = results.filter(({ code }) => code === resultError);
  for (const { parts } of refusals) expect(parts.join()).toContain('own keys are missing');
  expect(() => lone.run(() => generateKey(lone, 'aes-256', { ...making, custody: 'token' }))).toThrow('own keys are missing');
  expect(() => lone.run(() => rewrapKey(lone, reference, 1))).toThrow('own keys are missing');
  expect(lone.run(() => encrypt(lone, lone.key(reference), message))).toHaveLength(12 + message.length + 16);
  for (const name of objects) renameSync(path(basename(name)), join(tokens, name));
  // Only a new process sees the keys again.
  expect(() => lone.requireKept()).toThrow(ModuleBroken);
});

test('own keys that cannot be looked for are out of reach; those of a module without files are gone when its token answers', async () => {
  const directory = path('out-of-reach');
  const token = await makeSoftTokenForThisProcess(directory);
  const tokens = join(directory, 'main-tokens');
  const soft = new Engine({ token, cacheKeys: 10, pin: token.pin });
  soft.requireKept();
  renameSync(tokens, `${tokens}-kept`);
  symlinkSync(tokens, tokens);
  expect(() => soft.requireKept()).toThrow(tokenAway);
  unlinkSync(tokens);
  expect(() => soft.requireKept()).toThrow(ownKeysGone);
  renameSync(`${tokens}-kept`, tokens);

  // Nothing is known of where another module keeps its objects.
  const module = join(directory, 'libother.so');
  copyFileSync(token.module, module);
  const other = new Engine({ token: { ...token, module }, cacheKeys: 10, pin: token.pin });
  other.requireKept();
  const [folder = ''] = readdirSync(tokens, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  for (const name of readdirSync(join(tokens, folder)).filter((name) => /[^n]\.object$/.test(name))) unlinkSync(join(tokens, folder, name));
  expect(() => other.requireKept()).toThrow(ownKeysGone);
  renameSync(tokens, `${tokens}-kept`);
  expect(() => other.requireKept()).toThrow(tokenAway);
});
