// Proves that each stored key opens in its token, and that no secret is known to everybody: it is loaded and used once.
import { createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import type { CheckFinding } from '../../core/base/context.ts';
import { type Hsm, HsmError, type KeyReference, keyUses, type KeyUsage, schemeFor, throwAwayPair } from '../../hsm/api.ts';
import { describeKey } from '../wrapping-keys/rotation.ts';

/** Number of keys of each type that opened, and findings about those that did not. */
export type ProvenKeys = { readonly byType: Readonly<Record<string, number>>; readonly findings: readonly CheckFinding[] };

/** Keys used at the same time. */
const batch = 16;

/** Signed by keys that sign: it begins like nothing that anybody signs. */
const text = Buffer.from('keystored restore drill: this key opens');
const digest = createHash('sha256').update(text).digest();

/** Uses every key once. */
export async function proveKeys(hsm: Hsm, keys: Iterable<KeyReference>): Promise<ProvenKeys> {
  const byType: Record<string, number> = {};
  const findings: CheckFinding[] = [];
  const prove = async (key: KeyReference): Promise<void> => {
    const { type, custody, token } = key.stored;
    try {
      if ((await use(hsm, key)) === isOfZeros) findings.push({ where: `key ${describeKey(key.binding)}`, problem: ofZeros });
      const name = custody === 'token' ? `${type} in token ${token}` : type;
      byType[name] = (byType[name] ?? 0) + 1;
    } catch (error) {
      findings.push({ where: `key ${describeKey(key.binding)}`, problem: `does not open: ${(error as Error).message}` });
    }
  };
  let waiting: Promise<void>[] = [];
  for (const key of keys) {
    waiting.push(prove(key));
    if (waiting.length < batch) continue;
    await Promise.all(waiting);
    waiting = [];
  }
  await Promise.all(waiting);
  return { byType, findings };
}

/**
 * Key that version 0.1.0 imported in token custody or through a network when the token had ended the login meanwhile: a secret that
 * everybody knows.
 */
const isOfZeros = Symbol('a key of zeros');
const ofZeros = 'consists of zeros, as version 0.1.0 imported some keys; import it again, and replace what it has protected';

async function use(hsm: Hsm, key: KeyReference): Promise<unknown> {
  // Keys under which callers wrap keys for import, and transit keys for encryption, decrypt: a refusal of other octets shows that the key works.
  if (key.binding.purpose === 'unwrap' || key.binding.purpose === 'decrypt') {
    const octets = Number(key.stored.type.slice('rsa-'.length)) / 8;
    return hsm.decryptOaep(key, 'sha256', Buffer.alloc(octets, 1)).catch(unlessRefused);
  }
  return useAs(keyUses[key.stored.type], hsm, key);
}

function unlessRefused(error: unknown): void {
  if (!(error instanceof HsmError && error.kind === 'decryption-failed')) throw error;
}

async function useAs(usage: KeyUsage, hsm: Hsm, key: KeyReference): Promise<unknown> {
  if (usage.use === 'encrypt') return seal(usage.bytes, hsm, key);
  if (usage.use === 'mac') return macOfZeros.equals(await hsm.hmac(key, 'sha256', text)) ? isOfZeros : undefined;
  if (usage.use === 'cmac') return hsm.sign(key, { scheme: 'cmac', message: text });
  if (usage.use === 'agree') return askSecret(hsm, key, 'agree', throwAwayPair(key.stored.type).point);
  if (usage.use === 'decapsulate') return askSecret(hsm, key, 'decapsulate', randomBytes(usage.ciphertextBytes));
  const scheme = schemeFor(usage.family, text, 'sha256', () => digest);
  return hsm.sign(key, scheme);
}

/** Asks for a secret: with a key of nobody, or of a ciphertext of nobody. It differs each time, so what comes out is not compared. */
async function askSecret(hsm: Hsm, key: KeyReference, name: 'agree' | 'decapsulate', octets: Uint8Array): Promise<void> {
  (await hsm.use({ use: name, key, octets })).fill(0);
}

const macOfZeros = createHmac('sha256', Buffer.alloc(32)).update(text).digest();

async function seal(keyBytes: number, hsm: Hsm, key: KeyReference): Promise<unknown> {
  const sealed = await hsm.encrypt(key, text);
  const opened = await hsm.decrypt(key, sealed);
  if (!Buffer.from(opened).equals(text)) throw new Error('the token decrypted something else than it had encrypted');
  return opensWithZeros(keyBytes, sealed) ? isOfZeros : undefined;
}

/** `sealed`: nonce (12 octets), ciphertext, tag (16). */
function opensWithZeros(keyBytes: number, sealed: Uint8Array): boolean {
  const decipher = createDecipheriv(`aes-${(8 * keyBytes) as 128 | 192 | 256}-gcm`, Buffer.alloc(keyBytes), sealed.subarray(0, 12));
  return decipher.update(sealed.subarray(12, -16)).equals(text);
}
