// Large texts for openpgp-sign and openpgp-verify: they are not copied, and give the same answers as small ones.
import { createHash } from 'node:crypto';
import { createMessage, readKey, readSignature, sign as signOutside, generateKey, verify } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base64, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
const mebibyte = 1024 * 1024;
let harness: OpenpgpHarness;

beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
  for (const cipher of ['ed25519', 'ecdsa-p384']) await harness.create(cipher, { cipher, 'openpgp-user-id': 'Large' });
});
afterAll(() => harness.close());

/** Octets that look random and are the same every time. */
function noise(length: number): Buffer {
  return createHash('shake256', { outputLength: length }).update('noise').digest();
}

test.each([
  ['ed25519', 3 * mebibyte + 1],
  ['ecdsa-p384', 32 * mebibyte],
])('%s signs and verifies %i octets, and openpgp.js agrees', async (name, length) => {
  const data = noise(length);
  const armoredSignature = await harness.sign(name, data);
  const { signatures } = await verify({
    message: await createMessage({ binary: data }),
    signature: await readSignature({ armoredSignature }),
    verificationKeys: await readKey({ armoredKey: await harness.block(name) }),
    format: 'binary',
    date: harness.today(),
  });
  expect(await signatures[0]?.verified).toBe(true);
  expect(await harness.isValid(name, armoredSignature, data)).toBe(true);
  data[length - 1] = (data[length - 1] ?? 0) ^ 1;
  expect(await harness.isValid(name, armoredSignature, data)).toBe(false);
});

test('raw text is signed as its UTF-8, however the body escapes it', async () => {
  const text = '"Zwölf"\\\r\n\u2028😀 '.repeat(60_000);
  const { signature } = await harness.do('ed25519', 'openpgp-sign', { text, 'base64-encoded': false });
  expect(await harness.isValid('ed25519', signature, Buffer.from(text))).toBe(true);
  expect(await harness.do('ed25519', 'openpgp-verify', { text, 'base64-encoded': false, signature })).toMatchObject({ valid: true });
});

test('a signature of type text is verified over line ends wherever the data is cut', async () => {
  const { privateKey, publicKey } = await generateKey({ userIDs: { name: 'x' }, date: harness.today(), format: 'object' });
  const text = 'line\r\n'.repeat(200_000);
  const armor = await signOutside({
    message: await createMessage({ text }),
    signingKeys: privateKey,
    detached: true,
    date: harness.today(),
  });
  expect((await harness.importBlock('outside', publicKey.armor())).status).toBe(201);
  for (const sent of [text, text.replaceAll('\r\n', '\n')]) expect(await harness.isValid('outside', armor, Buffer.from(sent))).toBe(true);
  expect(await harness.isValid('outside', armor, Buffer.from(`${text}x`))).toBe(false);
});

describe('refusals', () => {
  const large = base64(noise(mebibyte));
  test.each([
    ['no base64', { text: `${large.slice(0, -1)}-` }, 400, 'invalid-base64'],
    ['padding inside', { text: `AA==${large}` }, 400, 'invalid-base64'],
    ['a lone surrogate', { text: `${large}\ud800`, 'base64-encoded': false }, 400, 'invalid-value'],
    ['an unknown field', { text: large, hash: 'md5' }, 400, 'unknown-field'],
    ['a version that is none', { text: large, 'key-version': 9 }, 400, 'version-unknown'],
    ['over 32 MiB', { text: base64(Buffer.alloc(32 * mebibyte + 1)) }, 413, 'payload-too-large'],
    ['too much beside the text', { text: large, format: ' '.repeat(5 * mebibyte) }, 413, 'payload-too-large'],
  ])('%s', async (_, fields, status, code) => {
    const answer = await harness.act('ed25519', 'openpgp-sign', fields);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  });

  test('a policy that lists values of text allows no large one', async () => {
    const rules = [{ path: '/v1/state/**', operations: { all: 'allow' }, 'allowed-values': { text: ['', 'YQ=='] } }];
    const made = await harness.request('POST', '/v1/config/policy/policies', { name: 'short', 'rest-api': { rules } });
    expect(made.status).toBe(201);
    const { body } = await harness.request('POST', '/v1/state/keystore/token/create', { policies: ['short'] });
    const send = (text: string) =>
      harness.send('POST', '/v1/state/keystore/transit-keys/ed25519/openpgp-sign', { text }, { token: body.token });
    expect((await send('YQ==')).status).toBe(200);
    expect(await send(large)).toMatchObject({ status: 403, body: { code: 'policy-denied' } });
  });

  test('the audit record has the size of the text and not the text', async () => {
    await harness.do('ed25519', 'openpgp-sign', { text: large });
    const record = harness.auditRecords().findLast((one) => String(one['path']).endsWith('/openpgp-sign'));
    expect(record).toMatchObject({ status: 200, 'request-parameters': { text: { bytes: large.length } } });
    expect(JSON.stringify(record).length).toBeLessThan(2_000);
  });
});
