// Key agreement against the vectors of Wycheproof, in each module: what is agreed, and which points are refused.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hsm, HsmError, type KeyReference, type KeyType } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { findModules } from '../harness/token/modules.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';
import { bindingOf } from '../harness/keys.ts';
import { loadWycheproof, type Vector } from '../vectors/wycheproof.ts';

const directory = temporaryDirectory();

/** Octets of a number, as many as the curve has. */
const number = (hex: string, bytes: number): Buffer => Buffer.from(hex.padStart(2 * bytes, '0').slice(-2 * bytes), 'hex');

const files = [
  {
    type: 'ecdh-p256',
    file: loadWycheproof('ecdh_secp256r1_ecpoint'),
    privateKey: (hex: string) =>
      createPrivateKey({ key: number(hex, 32), format: 'raw-private', asymmetricKeyType: 'ec', namedCurve: 'prime256v1' }),
  },
  {
    type: 'ecdh-p521',
    file: loadWycheproof('ecdh_secp521r1_ecpoint'),
    privateKey: (hex: string) =>
      createPrivateKey({ key: number(hex, 66), format: 'raw-private', asymmetricKeyType: 'ec', namedCurve: 'secp521r1' }),
  },
  {
    type: 'x25519',
    file: loadWycheproof('x25519'),
    privateKey: (hex: string) => createPrivateKey({ key: number(hex, 32), format: 'raw-private', asymmetricKeyType: 'x25519' }),
  },
] as const;

describe.each(await findModules())('$name', (module) => {
  let hsm: Hsm;
  beforeAll(async () => {
    hsm = await openHsm(testHsmConfig(await module.make(directory(module.name.replaceAll(' ', '-')))));
  });
  afterAll(() => hsm.close());

  test.each(files)('$type: $file.summary', { timeout: 240_000 }, async ({ type, file, privateKey }) => {
    const wrong: string[] = [];
    const imported = new Map<string, KeyReference>();
    for (const vector of file.groups.flatMap(({ tests }) => tests)) {
      const { tcId, comment, private: secret = '', public: point = '' } = vector;
      const key = imported.get(secret) ?? (await importKey(hsm, type, `${type}-${tcId}`, privateKey(secret)));
      imported.set(secret, key);
      const agreed = await hsm.agree(key, Buffer.from(point, 'hex')).then(
        (octets) => Buffer.from(octets).toString('hex'),
        (error: unknown) => (error instanceof HsmError && error.kind === 'decryption-failed' ? 'refused' : String(error)),
      );
      if (agreed !== expectedOf(type, vector)) wrong.push(`${tcId} ${comment}: ${agreed}`);
    }
    expect(wrong).toEqual([]);
  });
});

async function importKey(hsm: Hsm, type: KeyType, keyId: string, key: KeyObject): Promise<KeyReference> {
  const binding = bindingOf(keyId, 'agree');
  const { stored } = await hsm.importKey(type, key.export({ format: 'der', type: 'pkcs8' }), binding);
  return { stored, binding };
}

/** A compressed point is refused, as one that not every module takes; so is one of X25519 with which every key agrees on zeros (RFC 7748 section 6.1). */
function expectedOf(type: KeyType, { result, flags, public: point = '', shared = '' }: Vector): string {
  if (result === 'invalid' || (/^0[23]/.test(point) && flags.includes('CompressedPoint'))) return 'refused';
  return type === 'x25519' && /^0*$/.test(shared) ? 'refused' : shared;
}
