// ML-KEM against the vectors of Wycheproof, in each module that has it: which secret comes out, and which seeds and ciphertexts are refused.
import { createPrivateKey, createPublicKey, encapsulate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hsm, HsmError, type KeyReference, keyUses } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { bindingOf, makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { findModules } from '../harness/token/modules.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';
import { loadWycheproof } from '../vectors/wycheproof.ts';

const directory = temporaryDirectory();
const file = loadWycheproof('mlkem_768');

describe.each(await findModules())('$name', (module) => {
  let hsm: Hsm;
  beforeAll(async () => {
    hsm = await openHsm(testHsmConfig(await module.make(directory(module.name.replaceAll(' ', '-')))));
  });
  afterAll(() => hsm.close());

  test(`ml-kem-768: ${file.summary}`, { timeout: 240_000 }, async ({ skip }) => {
    skip(!hsm.offers('ml-kem-768'), 'the token does not have ML-KEM');
    const wrong: string[] = [];
    const imported = new Map<string, Promise<KeyReference>>();
    for (const { tcId, comment, result, seed = '', c = '', K: shared = '' } of file.groups.flatMap(({ tests }) => tests)) {
      const key = imported.get(seed) ?? importSeed(hsm, `${tcId}`, seed);
      imported.set(seed, key);
      const found = await key
        .then((one) => hsm.decapsulate(one, Buffer.from(c, 'hex')))
        .then(
          (octets) => Buffer.from(octets).toString('hex'),
          (error: unknown) => (isRefusal(error) ? 'refused' : String(error)),
        );
      if (found !== (result === 'valid' ? shared : 'refused')) wrong.push(`${tcId} ${comment}: ${found}`);
    }
    expect(wrong).toEqual([]);
  });

  test.each(['wrapped', 'token'] as const)(
    '%s custody: what node:crypto has encapsulated, another secret for what nobody has, and nothing for another length',
    async (custody) => {
      for (const type of ['ml-kem-768', 'ml-kem-1024'] as const) {
        if (!hsm.offers(type)) continue;
        const { ciphertextBytes } = keyUses[type];
        const { key, publicKey } = await makeKey(hsm, type, `${type}-${custody}`, { custody });
        const spki = createPublicKey({ key: Buffer.from(publicKey as Uint8Array), format: 'der', type: 'spki' });
        const { sharedKey, ciphertext } = encapsulate(spki);
        const secretOf = async (octets: Uint8Array): Promise<Buffer> => Buffer.from(await hsm.decapsulate(key, octets));
        expect(await secretOf(ciphertext), type).toEqual(sharedKey);
        for (const at of [0, 700, ciphertextBytes - 1]) {
          const changed = ciphertext.map((octet, index) => (index === at ? octet ^ 1 : octet));
          const secret = await secretOf(changed);
          expect(secret.equals(sharedKey), `${type} ${at}`).toBe(false);
          // Implicit rejection has one answer for a ciphertext (FIPS 203, algorithm 18).
          expect(await secretOf(changed)).toEqual(secret);
        }
        for (const wrong of [Buffer.alloc(0), ciphertext.subarray(1), Buffer.concat([ciphertext, Buffer.alloc(1)])])
          await expect(hsm.decapsulate(key, wrong), type).rejects.toMatchObject({ kind: 'decryption-failed' });
        await expect(hsm.agree(key, ciphertext)).rejects.toMatchObject({ kind: 'refused' });
        await expect(hsm.sign(key, { scheme: 'ml-dsa', message: ciphertext })).rejects.toMatchObject({ kind: 'refused' });
      }
      const { key: other } = await makeKey(hsm, 'aes-256', `decapsulates-not-${custody}`, { custody });
      await expect(hsm.decapsulate(other, Buffer.alloc(1088))).rejects.toMatchObject({ kind: 'refused' });
    },
  );
});

/** A seed of another length is none for node:crypto, before any token sees it. */
async function importSeed(hsm: Hsm, keyId: string, seed: string): Promise<KeyReference> {
  const privateKey = createPrivateKey({ key: Buffer.from(seed, 'hex'), format: 'raw-seed', asymmetricKeyType: 'ml-kem-768' });
  const binding = bindingOf(keyId, 'decapsulate');
  const { stored } = await hsm.importKey('ml-kem-768', privateKey.export({ format: 'der', type: 'pkcs8' }), binding);
  return { stored, binding };
}

function isRefusal(error: unknown): boolean {
  return error instanceof HsmError ? error.kind === 'decryption-failed' : (error as { code?: unknown }).code === 'ERR_INVALID_ARG_VALUE';
}
