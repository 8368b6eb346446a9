// Tests every operation on a real token: makes a key of each type, uses it, checks the result with node:crypto and destroys it.
import { createHash, createPublicKey, randomUUID, timingSafeEqual, verify, type KeyObject } from 'node:crypto';
import { defined } from '../../../core/base/defined.ts';
import {
  type GeneratedKey,
  hashFor,
  type Hsm,
  HsmError,
  type KeyReference,
  type KeyType,
  keyUses,
  type KeyUsage,
  schemeFor,
  type SignatureFamily,
  type TokenConfig,
  trySecret,
} from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';

/** The outcome of one operation. */
export type Trial = {
  readonly token: string;
  readonly operation: string;
  readonly result: 'ok' | 'failed' | 'not offered';
  readonly milliseconds?: number;
  readonly problem?: string;
};

const message = Buffer.from('keystorectl hsm test');

/** Tests a token and reports each operation when it ends. Rejects with HsmError when the token cannot be opened. */
export async function tryToken(config: TokenConfig, report: (trial: Trial) => void): Promise<void> {
  const hsm = await openHsm({ tokens: [config], defaultCustody: 'wrapped', cacheKeys: 64, jobTimeoutSeconds: 60 });
  /** `run` resolves with what is to be known of an operation that works. */
  const attempt = async (operation: string, run: () => Promise<string | void>): Promise<void> => {
    const started = performance.now();
    const [result, problem] = await run().then(
      (note) => ['ok', note ?? undefined] as const,
      (error: unknown) => ['failed', describe(error)] as const,
    );
    const milliseconds = Math.round((performance.now() - started) * 10) / 10;
    report({ token: config.name, operation, result, milliseconds, ...defined({ problem }) });
  };
  try {
    await attempt('random', async () => require((await hsm.random(32)).some((octet) => octet !== 0), 'the random octets are all zero'));
    for (const type of Object.keys(keyUses) as KeyType[]) {
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
    await attempt('other uses are refused', async () => {
      const allowed = await hsm.forbiddenUses(config.name);
      return allowed.length === 0 ? undefined : `${allowed.join('; ')}: the record of each key keeps it to its use, not this token`;
    });
    if (hsm.offers('secret-256') && hsm.offers('aes-256')) await attempt('aes-256: derive for a context', () => tryDerivation(hsm));
  } finally {
    await hsm.close();
  }
}

async function tryKeyType(hsm: Hsm, type: KeyType, custody: 'wrapped' | 'token'): Promise<void> {
  const binding = { tenant: 'system', keyId: randomUUID(), version: 1, purpose: purposes[keyUses[type].use] ?? 'trial' };
  const made = await hsm.generate(type, binding, { custody });
  const key = { stored: made.stored, binding };
  try {
    await tryUse(keyUses[type], hsm, key, made);
  } finally {
    await hsm.destroy(key);
  }
}

/** Purposes by which `widerObjects` knows the one use of an object. */
const purposes: Readonly<Partial<Record<KeyUsage['use'], string>>> = { cmac: 'cmac', agree: 'agree', decapsulate: 'decapsulate' };

function tryUse(usage: KeyUsage, hsm: Hsm, key: KeyReference, made: GeneratedKey): Promise<void> {
  if (usage.use === 'encrypt') return tryEncryption(hsm, key);
  if (usage.use === 'cmac') return tryCmac(hsm, key);
  if (usage.use === 'agree' || usage.use === 'decapsulate') return trySecrets(hsm, key, made);
  return usage.use === 'mac' ? tryHmac(hsm, key) : trySignature(usage.family, hsm, key, made);
}

async function tryCmac(hsm: Hsm, key: KeyReference): Promise<void> {
  const mac = (of: Uint8Array): Promise<Uint8Array> => hsm.sign(key, { scheme: 'cmac', message: of });
  const [first, second, other] = [await mac(message), await mac(message), await mac(message.subarray(1))];
  require(first.length === 16 && timingSafeEqual(first, second), 'two CMACs of one text differ');
  require(!timingSafeEqual(first, other), 'the CMACs of two texts are equal');
}

/** Gives the secret that its public key gives outside, and refuses octets that are not a point, or not as long as a ciphertext. */
async function trySecrets(hsm: Hsm, key: KeyReference, { publicKey }: GeneratedKey): Promise<void> {
  require(publicKey !== undefined, 'the key has no public key');
  const spki = createPublicKey({ key: Buffer.from(publicKey ?? []), format: 'der', type: 'spki' });
  const { use, octets, isRight } = trySecret(key.stored.type, spki);
  require(isRight(await hsm.use({ use, key, octets })), 'the key gives another secret than node:crypto');
  const bad = use === 'agree' ? new Uint8Array(octets.length) : octets.subarray(1);
  const refusal = await hsm.use({ use, key, octets: bad }).catch((error: unknown) => error);
  require(refusal instanceof HsmError && refusal.kind === 'decryption-failed', 'octets that nobody can have made were not refused');
}

async function tryHmac(hsm: Hsm, key: KeyReference): Promise<void> {
  const [first, second] = [await hsm.hmac(key, 'sha256', message), await hsm.hmac(key, 'sha256', message)];
  require(first.length === 32 && timingSafeEqual(first, second), 'two HMACs of one text differ');
}

async function tryEncryption(hsm: Hsm, key: KeyReference): Promise<void> {
  const sealed = await hsm.encrypt(key, message, { associatedData: message });
  const opened = await hsm.decrypt(key, sealed, { associatedData: message });
  require(Buffer.compare(opened, message) === 0, 'the decrypted text differs from the encrypted one');
  const changed = Uint8Array.from(sealed, (octet, index) => (index === 15 ? octet ^ 1 : octet));
  const refusal = await hsm.decrypt(key, changed, { associatedData: message }).then(
    () => undefined,
    (error: unknown) => error,
  );
  require(refusal instanceof HsmError && refusal.kind === 'decryption-failed', 'a changed ciphertext was not refused');
}

/** Signs the message and verifies the signature with node:crypto. */
async function trySignature(family: SignatureFamily, hsm: Hsm, key: KeyReference, { publicKey }: GeneratedKey): Promise<void> {
  const signature = await hsm.sign(
    key,
    schemeFor(family, message, 'sha256', () => createHash('sha256').update(message).digest()),
  );
  require(publicKey !== undefined, 'the key has no public key');
  const spki: KeyObject = createPublicKey({ key: Buffer.from(publicKey ?? []), format: 'der', type: 'spki' });
  const isRight = verify(hashFor(family, 'sha256'), message, { key: spki, dsaEncoding: 'ieee-p1363' }, signature);
  require(isRight, 'node:crypto does not accept the signature');
}

async function tryImport(hsm: Hsm): Promise<void> {
  const binding = { tenant: 'system', keyId: randomUUID(), version: 1, purpose: 'trial' };
  const material = Uint8Array.from({ length: 32 }, (_, index) => index);
  const { stored } = await hsm.importKey('aes-256', material.slice(), binding);
  const readBack = await hsm.readKeyMaterialInClear({ stored, binding });
  require(Buffer.compare(readBack, material) === 0, 'the exported key differs from the imported one');
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
  require(Buffer.compare(await hsm.decrypt({ derivation }, sealed), message) === 0, 'two derivations of one key differ');
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
