// Writes the golden file of the present formats: node test/upgrade/make-transit-golden.ts FILE. An older file is never written again.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDaemon } from '../harness/daemon.ts';
import { makeNssToken, obtainNss } from '../harness/token/nss.ts';
import { makeSoftToken } from '../harness/token/softhsm.ts';
import { type GoldenKey, type GoldenValue, goldenKeys, goldenSignatureOptions, goldenText } from './golden-keys.ts';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node test/upgrade/make-transit-golden.ts FILE');
const directory = mkdtempSync(join(tmpdir(), 'keystored-golden-'));
try {
  const nss = await obtainNss();
  if (!('directory' in nss)) throw new Error(`ML-DSA keys cannot be made: ${nss.missing}`);
  mkdirSync(join(directory, 'nss'));
  const tokens = [await makeSoftToken(directory), await makeNssToken(nss, join(directory, 'nss'))];
  const configuration = join(directory, 'configuration.json');
  const written = tokens.map(({ libraryParameters, ...token }) => ({ ...token, 'library-parameters': libraryParameters }));
  writeFileSync(configuration, JSON.stringify({ hsm: { tokens: written } }));
  const daemon = await startDaemon({ directory: join(directory, 'data'), args: ['--config', configuration] });
  try {
    const made: Record<string, GoldenKey> = {};
    for (const name of Object.keys(goldenKeys)) made[name] = await makeGolden((...parts) => daemon.request(...parts), name);
    writeFileSync(file, `${JSON.stringify(made, undefined, 1)}\n`, { flag: 'wx' });
  } finally {
    await daemon.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

type Request = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Two versions of the key, and what each of them made. */
async function makeGolden(request: Request, name: string): Promise<GoldenKey> {
  const { cipher, ...fields } = goldenKeys[name] as (typeof goldenKeys)[string];
  const act = async (action: string, body: unknown = {}): Promise<Record<string, string>> =>
    (await request('POST', `/v1/state/keystore/transit-keys/${name}/${action}`, body)) as Record<string, string>;
  await request('POST', '/v1/config/keystore/transit-keys', { name, cipher, ...fields, 'allow-plaintext-backup': true });
  const values: GoldenValue[] = [];
  for (const version of [1, 2]) {
    if (version === 2) await act('rotate');
    for (const hash of ['sha256', 'sha384', 'sha512']) {
      const asked = { plaintext: goldenText, 'hash-algorithm': hash, 'key-version': version };
      const { hmac } = await act('hmac', asked);
      values.push({ action: 'hmac', request: asked, answer: { hmac } });
    }
    values.push(...(cipher.startsWith('aes') ? await encrypted(act, fields, version) : await signed(act, cipher)));
  }
  const { keys } = (await request('GET', `/v1/state/keystore/transit-keys/${name}`)) as { keys: Record<string, string> };
  const { key: backup } = await act('backup');
  return { cipher, backup: backup as string, ...(cipher.startsWith('aes') ? {} : { publicKey: keys['2'] as string }), values };
}

type Act = (action: string, body: unknown) => Promise<Record<string, string>>;

async function encrypted(act: Act, fields: { derived?: true; 'convergent-encryption'?: true }, version: number): Promise<GoldenValue[]> {
  const values: GoldenValue[] = [];
  const derivation = fields.derived === true ? { context: 'golden context' } : {};
  for (const associated of [{}, { 'associated-data': goldenText }]) {
    const options = { ...derivation, ...associated };
    const asked = { plaintext: goldenText, ...options, 'key-version': version };
    const { ciphertext } = await act('encrypt', asked);
    values.push({ action: 'decrypt', request: { ciphertext, ...options }, answer: { plaintext: goldenText } });
    if (fields['convergent-encryption'] === true) values.push({ action: 'encrypt', request: asked, answer: { ciphertext } });
  }
  if (fields['convergent-encryption'] !== true) {
    const { ciphertext, plaintext } = await act('generate-data-key', { type: 'plaintext', ...derivation });
    values.push({ action: 'decrypt', request: { ciphertext, ...derivation }, answer: { plaintext } });
  }
  return values;
}

async function signed(act: Act, cipher: string): Promise<GoldenValue[]> {
  const values: GoldenValue[] = [];
  for (const options of goldenSignatureOptions(cipher)) {
    const { signature } = await act('sign', { text: goldenText, ...options });
    values.push({ action: 'verify', request: { text: goldenText, signature, ...options }, answer: { valid: true } });
  }
  return values;
}
