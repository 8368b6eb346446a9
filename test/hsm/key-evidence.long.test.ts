// What a token says of its keys: read from the token itself, for keys it generated, imported, keeps, or has unwrapped.
import { afterAll, describe, expect, test } from 'vitest';
import { type Hsm, type KeyEvidence, type KeyType, keyUses } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { Engine } from '../../hsm/engine/engine.ts';
import { gatherEvidence } from '../../hsm/engine/operations/key-evidence.ts';
import { generateKey } from '../../hsm/engine/operations/making.ts';
import type { VendorAttestor } from '../../hsm/engine/vendor-attestation.ts';
import { isSymmetric, keyRows } from '../../hsm/pkcs11/mechanisms.ts';
import { mechanismName } from '../../hsm/pkcs11/module.ts';
import { keyIdentity } from '../../hsm/protocol/key-encoding.ts';
import { bindingOf, freshMaterial, makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { findModules } from '../harness/token/modules.ts';
import { makeSoftTokenForThisProcess, testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
const slow: ReadonlySet<KeyType> = new Set<KeyType>(['rsa-3072', 'rsa-4096']);
const useOf: Readonly<Record<string, readonly string[]>> = { aes: ['encrypt', 'decrypt'], 'ml-kem': ['decapsulate'] };

/** The size that a statement is to have, from the table of key types. */
function sizeOf(type: KeyType): Partial<KeyEvidence['object']> {
  const { family, bytes, nodeName = '' } = keyRows[type];
  return isSymmetric(family) || family === 'rsa' ? { bits: bytes * 8 } : { parameters: nodeName };
}

describe.each(await findModules({ builds: true }))('$name', (module) => {
  test('every type in every custody', { timeout: 120_000 }, async () => {
    const token = await module.make(path(module.name.replaceAll(' ', '-')));
    const hsm = await openHsm(testHsmConfig(token));
    try {
      const types = (hsm.status()[0]?.keyTypes ?? []).filter((type) => !slow.has(type));
      for (const type of types) await expectEvidence(hsm, type);
      expect(types.length).toBeGreaterThan(5);
    } finally {
      await hsm.close();
    }
  });

  /** NSS softoken does not keep where a persistent key is from. */
  const keepsOrigin = module.name !== 'NSS softoken';
  /** It gives a private key that it unwraps every use of its type, whatever is asked for; a statement says so. */
  const takesUses = module.name !== 'NSS softoken';
  const made = keepsOrigin ? { local: true, alwaysSensitive: true, neverExtractable: true } : {};

  /** SoftHSM2 has X25519 keys under the names of Edwards ones. */
  const madeBy = (type: KeyType): string =>
    type === 'x25519' && module.name === 'SoftHSM2' ? 'CKM_EC_EDWARDS_KEY_PAIR_GEN' : mechanismName(keyRows[type].generate);

  async function expectEvidence(hsm: Hsm, type: KeyType): Promise<void> {
    const [status] = hsm.status();
    const uses = keyUses[type].use === 'agree' ? ['derive'] : (useOf[keyRows[type].family] ?? ['sign']);
    const kind = /^(?:aes|secret|cmac)/.test(type) ? 'secret' : 'private';
    const wrapped = await hsm.evidence((await makeKey(hsm, type, `wrapped-${type}`, { custody: 'wrapped' })).key);
    expect(wrapped, type).toMatchObject({
      token: { serial: status?.serial, label: status?.label, model: status?.model, manufacturer: status?.manufacturer },
      object: { kind, ...(kind === 'private' ? sizeOf(type) : {}), token: false, private: true, sensitive: true, extractable: false },
      wrappingKey: {
        number: 1,
        content: expect.stringMatching(keyRows[type].seed === undefined ? /^key$/ : /^(?:key|seed)$/),
        object: { kind: 'secret', keyType: 'CKK_AES', bits: 256, token: true, sensitive: true, extractable: false, ...made },
      },
      vendor: [],
    });
    const known = wrapped.object.uses.filter((use) => takesUses || kind === 'secret' || uses.includes(use));
    expect(known, type).toEqual(uses);
    expect(wrapped.wrappingKey?.object.uses, type).toEqual(['wrap', 'unwrap']);
    expect([undefined, sizeOf(type).bits], type).toContain(wrapped.object.bits);
    expect(wrapped.object.local, type).not.toBe(true);
    for (const version of [wrapped.token.firmware, wrapped.token.hardware, wrapped.token.library.version, wrapped.token.library.cryptoki])
      expect(version).toMatch(/^\d+\.\d+$/);

    const generated = await hsm.evidence((await makeKey(hsm, type, `token-${type}`, { custody: 'token', extractable: false })).key);
    expect(generated, type).toMatchObject({
      object: { kind, ...sizeOf(type), token: true, sensitive: true, extractable: false, uses, ...made },
    });
    expect(generated.object.keyGenMechanism, type).toBe(keepsOrigin ? madeBy(type) : undefined);
    expect(generated, type).not.toHaveProperty('wrappingKey');

    const binding = bindingOf(`imported-${type}`);
    if (type.startsWith('ml-dsa')) return;
    const { stored } = await hsm.importKey(type, freshMaterial(type), binding, { custody: 'token' });
    const imported = await hsm.evidence({ stored, binding });
    expect(imported.object, type).toMatchObject({ token: true, local: false, sensitive: true });
    expect(imported.object.neverExtractable, type).not.toBe(true);
    expect(imported.object.keyGenMechanism, type).toBeUndefined();
  }
});

describe('SoftHSM2', () => {
  let engine: Engine | undefined;
  afterAll(() => engine?.close());

  test('a blob of another record has no evidence, and a key that is gone neither', async () => {
    const [soft] = await findModules({ builds: true });
    const hsm = await openHsm(testHsmConfig(await (soft as NonNullable<typeof soft>).make(path('swapped'))));
    try {
      const { key } = await makeKey(hsm, 'aes-256', 'one');
      await expect(hsm.evidence({ ...key, binding: bindingOf('other') })).rejects.toMatchObject({ kind: 'key-not-usable' });
      const { key: gone } = await makeKey(hsm, 'ecdsa-p256', 'gone', { custody: 'token' });
      await hsm.destroy(gone);
      await expect(hsm.evidence(gone)).rejects.toMatchObject({ kind: 'key-missing' });
    } finally {
      await hsm.close();
    }
  });

  test('what a vendor attests of an object is carried along, and its failure is not hidden', async () => {
    const token = await makeSoftTokenForThisProcess(path('here'));
    engine = new Engine({ token, cacheKeys: 100, pin: token.pin });
    const one = engine;
    const identities = (['wrapped', 'token'] as const).map((custody) => {
      const binding = bindingOf(`attested-${custody}`);
      const { blob, mac } = generateKey(one, 'ecdsa-p256', { binding, custody, extractable: true, under: 1 });
      return keyIdentity({ stored: { type: 'ecdsa-p256', custody, token: '', blob, mac }, binding });
    });
    /** Says of an object what only the object itself tells: its label. */
    const labels: VendorAttestor = {
      format: 'label-of-the-object',
      serves: ({ manufacturer }) => manufacturer === 'SoftHSM project',
      attest: ({ module, owner }, object) => [module.attribute(owner, object, 'label')],
    };
    const of = (attestor: Partial<VendorAttestor>) =>
      identities.map((identity) => gatherEvidence(one, identity, [{ ...labels, ...attestor }]).vendor);
    const said = (text: string): string => Buffer.from(text).toString('base64');
    expect(of({})).toEqual([
      [{ format: 'label-of-the-object', about: 'wrapping-key', parts: [said('keystored-wrapping-key')] }],
      [{ format: 'label-of-the-object', about: 'key', parts: [said('keystored tenant attested-token v1 test')] }],
    ]);
    expect(of({ serves: () => false })).toEqual([[], []]);
    expect(of({ attest: () => undefined })).toEqual([[], []]);
    const failing = (): never => {
      throw new RangeError('the device did not answer');
    };
    expect(() => of({ attest: failing })).toThrow('the device did not answer');
  });

  test('an evidence leaves no object behind', async () => {
    const one = engine as Engine;
    const { module, owner } = one.sessions;
    const binding = bindingOf('left');
    const { blob, mac } = generateKey(one, 'aes-256', { binding, custody: 'wrapped', extractable: true, under: 1 });
    const identity = keyIdentity({ stored: { type: 'aes-256', custody: 'wrapped', token: '', blob, mac }, binding });
    const count = (): number => module.allObjects(owner, {}).length;
    const before = count();
    for (let round = 0; round < 20; round += 1) gatherEvidence(one, identity);
    expect(count()).toBe(before);
  });
});
