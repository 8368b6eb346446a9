// The test of every operation on a real token: each key type is made, used, checked against node:crypto, and gone afterwards.
import { createHash, createPublicKey, randomUUID, timingSafeEqual, verify, type KeyObject } from 'node:crypto';
import { defined } from '../../../core/base/defined.ts';
import {
  HsmError,
  type GeneratedKey,
  type Hsm,
  type KeyReference,
  type KeyType,
  type SignScheme,
  type TokenConfig,
} from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';

/** One operation tried. */
export type Trial = {
  readonly token: string;
  readonly operation: string;
  readonly result: 'ok' | 'failed' | 'not offered';
  readonly milliseconds?: number;
  readonly problem?: string;
};

const everyType: readonly KeyType[] = [
  ...(['aes-128', 'aes-192', 'aes-256', 'secret-256', 'rsa-2048', 'rsa-3072', 'rsa-4096'] as const),
  ...(['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ed25519', 'ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'] as const),
];
const message = Buffer.from('keystorectl hsm test');

/** Tries a token; each trial is reported as it ends. Rejects with HsmError when the token cannot be opened at all. */
export async function tryToken(config: TokenConfig, report: (trial: Trial) => void): Promise<void> {
  const hsm = await openHsm({ tokens: [config], defaultCustody: 'wrapped', cacheKeys: 64, jobTimeoutSeconds: 60 });
  const attempt = async (operation: string, run: () => Promise<void>): Promise<void> => {
    const started = performance.now();
    const [result, problem] = await run().then(
      () => ['ok', undefined] as const,
      (error: unknown) => ['failed', describe(error)] as const,
    );
    const milliseconds = Math.round((performance.now() - started) * 10) / 10;
    report({ token: config.name, operation, result, milliseconds, ...defined({ problem }) });
  };
  try {
    await attempt('random', async () => require((await hsm.random(32)).some((octet) => octet !== 0), 'the random octets are all zero'));
    for (const type of everyType) {
      if (!hsm.offers(type)) {
        report({ token: config.name, operation: type, result: 'not offered', problem: `needs ${hsm.mechanismFor(type)}` });
        continue;
      }
      await attempt(`${type}: make, use, check`, () => tryKeyType(hsm, type, 'wrapped'));
    }
    if (hsm.offers('aes-256')) {
      await attempt('aes-256: import and read back', () => tryImport(hsm));
      await attempt('aes-256: as an object in the token', () => tryKeyType(hsm, 'aes-256', 'token'));
    }
    await attempt('objects may do their one job only', async () => {
      const wider = await hsm.widerObjects(config.name);
      require(wider.length === 0, wider.join('; '));
    });
    if (hsm.offers('secret-256') && hsm.offers('aes-256')) await attempt('aes-256: derive for a context', () => tryDerivation(hsm));
  } finally {
    await hsm.close();
  }
}

async function tryKeyType(hsm: Hsm, type: KeyType, custody: 'wrapped' | 'token'): Promise<void> {
  const binding = { tenant: 'system', keyId: randomUUID(), version: 1, purpose: 'trial' };
  const made = await hsm.generate(type, binding, { custody });
  const key = { stored: made.stored, binding };
  try {
    if (type === 'secret-256') {
      const [first, second] = [await hsm.hmac(key, 'sha256', message), await hsm.hmac(key, 'sha256', message)];
      require(first.length === 32 && timingSafeEqual(first, second), 'two HMACs of one text differ');
    } else if (type.startsWith('aes-')) await tryEncryption(hsm, key);
    else await trySignature(hsm, type, key, made);
  } finally {
    await hsm.destroy(key);
  }
}

async function tryEncryption(hsm: Hsm, key: KeyReference): Promise<void> {
  const sealed = await hsm.encrypt(key, message, { associatedData: message });
  const opened = await hsm.decrypt(key, sealed, { associatedData: message });
  require(Buffer.compare(opened, message) === 0, 'what was decrypted is not what was encrypted');
  const changed = Uint8Array.from(sealed, (octet, index) => (index === 15 ? octet ^ 1 : octet));
  const refusal = await hsm.decrypt(key, changed, { associatedData: message }).then(
    () => undefined,
    (error: unknown) => error,
  );
  require(refusal instanceof HsmError && refusal.kind === 'decryption-failed', 'a changed ciphertext was not refused');
}

async function trySignature(hsm: Hsm, type: KeyType, key: KeyReference, { publicKey }: GeneratedKey): Promise<void> {
  const signature = await hsm.sign(key, schemeOf(type));
  require(publicKey !== undefined, 'the key has no public key');
  const spki: KeyObject = createPublicKey({ key: Buffer.from(publicKey ?? []), format: 'der', type: 'spki' });
  const hash = type.startsWith('rsa') || type.startsWith('ecdsa') ? 'sha256' : null;
  require(verify(hash, message, { key: spki, dsaEncoding: 'ieee-p1363' }, signature), 'node:crypto does not accept the signature');
}

function schemeOf(type: KeyType): SignScheme {
  const digest = createHash('sha256').update(message).digest();
  if (type.startsWith('rsa')) return { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest };
  if (type.startsWith('ecdsa')) return { scheme: 'ecdsa', digest };
  return { scheme: type === 'ed25519' ? 'ed25519' : 'ml-dsa', message };
}

async function tryImport(hsm: Hsm): Promise<void> {
  const binding = { tenant: 'system', keyId: randomUUID(), version: 1, purpose: 'trial' };
  const material = Uint8Array.from({ length: 32 }, (_, index) => index);
  const { stored } = await hsm.importKey('aes-256', material.slice(), binding);
  const readBack = await hsm.readKeyMaterialInClear({ stored, binding });
  require(Buffer.compare(readBack, material) === 0, 'the key that was read is not the one that was imported');
  await tryEncryption(hsm, { stored, binding });
  await hsm.destroy({ stored, binding });
}

async function tryDerivation(hsm: Hsm): Promise<void> {
  const binding = { tenant: 'system', keyId: randomUUID(), version: 1, purpose: 'derive' };
  const { stored } = await hsm.generate('secret-256', binding);
  const derivation = {
    secret: { stored, binding },
    contextHash: createHash('sha256').update('context').digest(),
    salt: new Uint8Array(16).fill(7),
    iterations: 1_000,
    type: 'aes-256',
  } as const;
  const sealed = await hsm.encrypt({ derivation }, message);
  require(Buffer.compare(await hsm.decrypt({ derivation }, sealed), message) === 0, 'the derived key is another one the second time');
  await hsm.destroy({ stored, binding });
}

function require(fact: boolean, problem: string): void {
  if (!fact) throw new Error(problem);
}

function describe(error: unknown): string {
  if (error instanceof HsmError)
    return [error.message, error.fn, error.rv === undefined ? undefined : `0x${error.rv.toString(16)}`].filter(Boolean).join(' ');
  return error instanceof Error ? error.message : String(error);
}
