// The whole appliance over each module but SoftHSM2, which every other test has: transit, a CA, OpenPGP and a rotation of the wrapping key.
import { execFile } from 'node:child_process';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { CompactEncrypt } from 'jose';
import { describe, expect, test } from 'vitest';
import { defined } from '../../core/base/defined.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { cipherNames, defaultUse, requireCipher } from '../../plugins/transit/ciphers.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { findModules } from '../harness/token/modules.ts';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';

const path = temporaryDirectory();
const run = promisify(execFile);
const [, ...modules] = await findModules({ builds: true });
const [config, state] = ['/v1/config/keystore/transit-keys', '/v1/state/keystore/transit-keys'];
const text = 'aGVsbG8=';

type Answered = { readonly ciphertext?: string; readonly signature?: string; readonly cmac?: string };
type Hsm = { readonly tokens: readonly [{ readonly 'key-types': readonly string[]; readonly 'wrapping-key': object }] };

describe.each(modules)('$name', (module) => {
  test('keys, certificates and OpenPGP, before and after the wrapping key is rotated and the appliance restarted', async () => {
    const directory = path(module.name.replaceAll(' ', '-'));
    mkdirSync(directory);
    const args = ['--config', configured(directory, await module.make(directory))];
    let daemon = await startDaemon({ directory: `${directory}/data`, args });
    const types = (await hsmOf(daemon)).tokens[0]['key-types'];
    const ciphers = cipherNames.filter((name) => types.includes(requireCipher(name).keyType));
    expect(ciphers.length).toBeGreaterThan(8);
    const proofs = [...(await useTransit(daemon, ciphers)), ...(await useCas(daemon, types)), await useOpenpgp(daemon)];
    for (const proof of proofs) await proof(daemon);

    await daemon.request('POST', '/v1/state/system/rotate-wrapping-key', {});
    const wrappingKey = async (): Promise<object> => (await hsmOf(daemon)).tokens[0]['wrapping-key'];
    await expect.poll(wrappingKey, { timeout: 60_000, interval: 200 }).toMatchObject({ number: 2, state: 'in-use', failed: 0 });
    for (const proof of proofs) await proof(daemon);
    expect(await daemon.stop()).toBe(0);
    const check = [resolve(import.meta.dirname, '../../appliance/check.ts'), ...args, '--data', `${directory}/data`];
    expect((await run(process.execPath, check)).stdout).toBe('every invariant holds\n');

    daemon = await startDaemon({ directory: `${directory}/data`, args });
    for (const proof of proofs) await proof(daemon);
    expect(await daemon.stop()).toBe(0);
  });
});

/** Asks a daemon, now or another one later, to open or verify what was made. */
type Proof = (daemon: Daemon) => Promise<void>;

async function useTransit(daemon: Daemon, ciphers: readonly string[]): Promise<readonly Proof[]> {
  const proofs: Proof[] = [];
  for (const cipher of ciphers) {
    const { kind } = requireCipher(cipher);
    if (kind === 'establishing') {
      proofs.push(await (defaultUse(cipher) === 'agree' ? useAgreement : useDecapsulation)(daemon, cipher));
      continue;
    }
    await daemon.request('POST', config, { name: cipher, cipher, exportable: true });
    const act = async (on: Daemon, action: string, body: object): Promise<Answered> =>
      (await on.request('POST', `${state}/${cipher}/${action}`, body)) as Answered;
    const exported = await act(daemon, 'export', {});
    const [make, open] = (
      { aead: ['encrypt', 'decrypt'], opening: ['encrypt', 'decrypt'], signing: ['sign', 'verify'], cmac: ['cmac', 'verify'] } as const
    )[kind];
    const isSealed = make === 'encrypt';
    const { ciphertext, signature, cmac } = await act(daemon, make, make === 'sign' ? { text } : { plaintext: text });
    proofs.push(async (on) => {
      const proven = await act(on, open, isSealed ? { ciphertext } : { text, signature, cmac });
      expect(proven, cipher).toMatchObject(isSealed ? { plaintext: text } : { valid: true });
      expect(await act(on, 'export', {}), cipher).toEqual(exported);
    });
  }
  return proofs;
}

/** A key that agrees opens what was sealed to its public key before. */
async function useAgreement(daemon: Daemon, cipher: string): Promise<Proof> {
  await daemon.request('POST', config, { name: cipher, cipher, exportable: true });
  const { keys } = (await daemon.request('GET', `${state}/${cipher}`)) as { keys: Record<string, string> };
  const sealing = new CompactEncrypt(Buffer.from(text, 'base64')).setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM' });
  const ciphertext = await sealing.encrypt(createPublicKey(keys['1'] as string));
  return async (on) => {
    expect(await on.request('POST', `${state}/${cipher}/decrypt`, { ciphertext, format: 'jwe' }), cipher).toMatchObject({
      plaintext: text,
    });
  };
}

/** A key of ML-KEM gives the secret that was encapsulated before. */
async function useDecapsulation(daemon: Daemon, cipher: string): Promise<Proof> {
  await daemon.request('POST', config, { name: cipher, cipher, 'allow-shared-secret': true });
  const made = (await daemon.request('POST', `${state}/${cipher}/encapsulate`, {})) as Record<'ciphertext' | 'shared-secret', string>;
  return async (on) => {
    const given = await on.request('POST', `${state}/${cipher}/decapsulate`, { ciphertext: made.ciphertext });
    expect(given, cipher).toEqual({ 'shared-secret': made['shared-secret'], 'key-version': 1 });
  };
}

async function useCas(daemon: Daemon, types: readonly string[]): Promise<readonly Proof[]> {
  const proofs: Proof[] = [];
  for (const [type, key] of [
    ['ecdsa', 'P-256'],
    ['ml-dsa-65', 'ML-DSA-44'],
  ] as const) {
    if (type !== 'ecdsa' && !types.includes(type)) continue;
    await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: `ca-${type}`, 'cert-key-type': type });
    proofs.push(async (on) => {
      const ca = (await on.request('GET', `/v1/state/keystore/tls/ca/ca-${type}`)) as { 'ca-cert': string };
      const der = await makeCsr({ keys: await makeKeys(key), subject: 'CN=device', names: [{ type: 'dns', value: 'device.example.org' }] });
      const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
      const signed = (await on.request('POST', `/v1/state/keystore/tls/ca/ca-${type}/sign-csr`, { csr })) as { certificate: string };
      const [issued, issuer] = [new X509Certificate(signed.certificate), new X509Certificate(ca['ca-cert'])];
      expect(issued.checkIssued(issuer) && issued.verify(issuer.publicKey), type).toBe(true);
    });
  }
  return proofs;
}

async function useOpenpgp(daemon: Daemon): Promise<Proof> {
  const act = async (on: Daemon, action: string, body: object = {}): Promise<Answered> =>
    (await on.request('POST', `${state}/writer/${action}`, body)) as Answered;
  await daemon.request('POST', config, { name: 'writer', cipher: 'ed25519', 'openpgp-user-id': 'Ada <ada@example.org>' });
  const block = await act(daemon, 'export-openpgp-public');
  const { signature } = await act(daemon, 'openpgp-sign', { text });
  return async (on) => {
    expect(await act(on, 'export-openpgp-public')).toEqual(block);
    expect(await act(on, 'openpgp-verify', { text, signature })).toMatchObject({ valid: true });
    const { signature: later } = await act(on, 'openpgp-sign', { text });
    expect(await act(on, 'openpgp-verify', { text, signature: later })).toMatchObject({ valid: true });
  };
}

async function hsmOf(daemon: Daemon): Promise<Hsm> {
  return (await daemon.request('GET', '/v1/state/system/hsm')) as Hsm;
}

function configured(directory: string, { libraryParameters, ...token }: TokenConfig): string {
  const file = `${directory}/keystored.yaml`;
  const wire = { ...token, ...defined({ 'library-parameters': libraryParameters }) };
  writeFileSync(file, JSON.stringify({ hsm: { tokens: [wire], 'job-timeout': '3s' } }));
  return file;
}
