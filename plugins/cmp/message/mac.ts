// Protection by a MAC under a shared secret: PasswordBasedMac (RFC 4211 section 4.4) and PBMAC1 (RFC 8018 section 7.1).
import { createHmac, hash as hashOf, pbkdf2 } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { equalConstantTime } from '../../../core/base/bytes.ts';
import { hashIds } from '../../../core/cms/algorithms.ts';
import {
  DerError,
  type Element,
  objectIdentifier,
  octetString,
  Reader,
  readOnly,
  sequence,
  tag,
  readAlgorithm,
} from '../../../core/der/der.ts';
import { macLimits } from './limits.ts';
import { macId } from './oids.ts';
import { CmpRefusal, reading } from './refusal.ts';

type Hash = 'sha1' | 'sha256' | 'sha384' | 'sha512';

/** A MAC with its parameters, which the sender has chosen. */
export type MacScheme = {
  readonly kind: 'passwordBased' | 'pbmac1';
  /** of PasswordBasedMac: the one-way function; of PBMAC1: the hash of PBKDF2 */
  readonly hash: Hash;
  readonly salt: Uint8Array;
  readonly iterations: number;
  /** octets of the key of PBMAC1 */
  readonly keyLength: number;
  readonly mac: Hash;
  /** DER of the parameters behind the salt, and of the algorithm of the HMAC, as the sender has written them */
  readonly parameters: readonly Uint8Array[];
  readonly macAlgorithm: Uint8Array;
};

const hashes: ReadonlyMap<string, Hash> = new Map([
  ['1.3.14.3.2.26', 'sha1'],
  ...Object.entries(hashIds).map(([name, id]) => [id, name as Hash] as const),
]);

const hmacIds = {
  sha1: '1.2.840.113549.2.7',
  sha256: '1.2.840.113549.2.9',
  sha384: '1.2.840.113549.2.10',
  sha512: '1.2.840.113549.2.11',
} as const;

/** HMACs by their names in PKCS#5, and the one that RFC 4211 has of HMAC with SHA-1. */
const macs: ReadonlyMap<string, Hash> = new Map([
  ['1.3.6.1.5.5.8.1.2', 'sha1'],
  ...Object.entries(hmacIds).map(([name, id]) => [id, name as Hash] as const),
]);

/** Octets that a hash gives. */
const sizes: Readonly<Record<Hash, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

/** Reads a protectionAlg; undefined if it is not one of a MAC. Throws CmpRefusal. */
export function readMacScheme(algorithm: Uint8Array): MacScheme | undefined {
  return reading('the algorithm of the protection', () => {
    const { id, parameters } = readAlgorithm(algorithm);
    if (id === macId.passwordBased) return readPasswordBased(required(parameters));
    return id === macId.pbmac1 ? readPbmac1(required(parameters)) : undefined;
  });
}

/** The scheme with a new salt, for the answer, whose parameters are those of the request otherwise. */
export function answering(scheme: MacScheme, salt: Uint8Array): MacScheme {
  return { ...scheme, salt };
}

/** Work of the key, in rounds of PBKDF2. A round of PasswordBasedMac is dearer, and all of them are in the thread of the requests. */
export function workOf({ kind, iterations }: MacScheme): number {
  return kind === 'pbmac1' ? iterations : 2 * iterations;
}

/** DER AlgorithmIdentifier. */
export function encodeMacScheme({ kind, salt, parameters, macAlgorithm }: MacScheme): Uint8Array {
  const own = sequence(octetString(salt), ...parameters);
  if (kind === 'passwordBased') return sequence(objectIdentifier(macId.passwordBased), own);
  return sequence(objectIdentifier(macId.pbmac1), sequence(sequence(objectIdentifier(macId.pbkdf2), own), macAlgorithm));
}

/** The MAC of octets under a secret in UTF-8. The key of many rounds is derived in pieces, so that other requests get their turn. */
export async function computeMac(scheme: MacScheme, secret: string, octets: Uint8Array): Promise<Uint8Array> {
  const key =
    scheme.kind === 'pbmac1'
      ? await derive(secret, scheme.salt, scheme.iterations, scheme.keyLength, scheme.hash)
      : await repeat(scheme, secret);
  return createHmac(scheme.mac, key).update(octets).digest();
}

/** Compares in constant time. */
export async function isMacOf(scheme: MacScheme, secret: string, octets: Uint8Array, mac: Uint8Array): Promise<boolean> {
  return equalConstantTime(await computeMac(scheme, secret, octets), mac);
}

const derive = promisify(pbkdf2);

/** Rounds between two turns of others. */
const roundsAtOnce = 1_000;

async function repeat({ hash, salt, iterations }: MacScheme, secret: string): Promise<Uint8Array> {
  let key = hashOf(hash, Buffer.concat([Buffer.from(secret, 'utf8'), salt]), 'buffer');
  for (let round = 1; round < iterations; round++) {
    key = hashOf(hash, key, 'buffer');
    if (round % roundsAtOnce === 0) await setImmediate();
  }
  return key;
}

/** PBMParameter. */
function readPasswordBased(parameters: Element): MacScheme {
  const fields = readOnly(parameters.whole, tag.sequence);
  const salt = fields.next(tag.octetString).content;
  const owf = fields.next(tag.sequence).whole;
  const rounds = fields.next(tag.integer);
  const macAlgorithm = fields.next(tag.sequence).whole;
  fields.end();
  const hash = hashOfAlgorithm(owf, hashes, 'one-way function');
  const iterations = readIterations(rounds.content, 'passwordBased');
  const mac = hashOfAlgorithm(macAlgorithm, macs, 'MAC');
  const written = [owf, rounds.whole, macAlgorithm];
  return { kind: 'passwordBased', hash, salt: checked(salt), iterations, keyLength: 0, mac, parameters: written, macAlgorithm };
}

/** PBMAC1-params. */
function readPbmac1(parameters: Element): MacScheme {
  const fields = readOnly(parameters.whole, tag.sequence);
  const derivation = readAlgorithm(fields.next(tag.sequence).whole);
  const macAlgorithm = fields.next(tag.sequence).whole;
  fields.end();
  if (derivation.id !== macId.pbkdf2)
    throw new CmpRefusal('badAlg', `the key derivation ${derivation.id} of PBMAC1 is not taken: use PBKDF2 (${macId.pbkdf2})`);
  const mac = hashOfAlgorithm(macAlgorithm, macs, 'MAC');
  const inner = readOnly(required(derivation.parameters).whole, tag.sequence);
  const salt = inner.next(tag.octetString).content;
  const rounds = inner.next(tag.integer);
  const iterations = readIterations(rounds.content, 'pbmac1');
  const length = inner.optional(tag.integer);
  const prf = inner.optional(tag.sequence);
  inner.end();
  const hash = prf === undefined ? 'sha1' : hashOfAlgorithm(prf.whole, macs, 'pseudo-random function');
  const keyLength = length === undefined ? sizes[mac] : readNumber(length.content);
  if (keyLength < 16 || keyLength > 64) throw new CmpRefusal('badAlg', 'the key of PBMAC1 has fewer than 16 or more than 64 octets');
  const written = [rounds, length, prf].flatMap((element) => (element === undefined ? [] : [element.whole]));
  return { kind: 'pbmac1', hash, salt: checked(salt), iterations, keyLength, mac, parameters: written, macAlgorithm };
}

function checked(salt: Uint8Array): Uint8Array {
  if (salt.length >= macLimits.leastSalt && salt.length <= macLimits.mostSalt) return salt;
  throw new CmpRefusal('badAlg', `the salt of the MAC has fewer than ${macLimits.leastSalt} or more than ${macLimits.mostSalt} octets`);
}

function readIterations(content: Uint8Array, kind: MacScheme['kind']): number {
  const most = macLimits.mostIterations[kind];
  const iterations = content.length > 4 ? Infinity : readNumber(content);
  if (iterations >= macLimits.leastIterations && iterations <= most) return iterations;
  throw new CmpRefusal('badAlg', `the MAC has fewer than ${macLimits.leastIterations} or more than ${most} rounds`);
}

/** A positive INTEGER of at most four octets. */
function readNumber(content: Uint8Array): number {
  if (content.length === 0 || content.length > 4 || (content[0] ?? 0) > 0x7f) throw new DerError('number out of range');
  return content.reduce((value, octet) => value * 256 + octet, 0);
}

function required(parameters: Element | undefined): Element {
  if (parameters === undefined) throw new DerError('algorithm without its parameters');
  return parameters;
}

function hashOfAlgorithm(whole: Uint8Array, known: ReadonlyMap<string, Hash>, what: string): Hash {
  const { id, parameters } = readAlgorithm(whole);
  const hash = known.get(id);
  if (hash === undefined || (parameters !== undefined && new Reader(parameters.whole).next().tag !== tag.null))
    throw new CmpRefusal('badAlg', `the ${what} ${id} of the MAC is not taken: use SHA-256`);
  return hash;
}
