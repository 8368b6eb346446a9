// Keys, certificates, requests and blocks that are nearly right, drawn from a seed: octets changed, cut and doubled, and points and numbers
// that no library would write.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { generateKey } from 'openpgp';
import { makeCsr, makeIdentity, makeKeys } from '../plugins/ca/pki.ts';
import { coordinateOctets, ecPkcs8, ecSec1, ecSpki, infinity, pem, rsaSpki } from '../harness/token/odd-keys.ts';
import type { Dice } from './cases.ts';

/** The kind of a case, which determines where it can be sent. */
export type KeyCase = {
  readonly kind: 'public' | 'private' | 'certificate' | 'request' | 'openpgp';
  readonly cipher: string;
  readonly label: string;
  readonly octets: Buffer;
};

const curves = [
  ['ecdsa-p256', 'P-256'],
  ['ecdsa-p384', 'P-384'],
  ['ecdsa-p521', 'P-521'],
] as const;

/** Draws cases from a seed. */
export class KeyCaseMaker {
  readonly #dice: Dice;
  readonly #sound: readonly KeyCase[];

  private constructor(dice: Dice, sound: readonly KeyCase[]) {
    this.#dice = dice;
    this.#sound = sound;
  }

  static async make(dice: Dice): Promise<KeyCaseMaker> {
    const pairs = [
      ['rsa-2048', generateKeyPairSync('rsa', { modulusLength: 2048 })],
      ['ed25519', generateKeyPairSync('ed25519')],
      ['ml-dsa-44', generateKeyPairSync('ml-dsa-44')],
      ...curves.map(([cipher, namedCurve]) => [cipher, generateKeyPairSync('ec', { namedCurve })] as const),
    ] as const;
    const sound: KeyCase[] = pairs.flatMap(([cipher, { publicKey, privateKey }]) => [
      { kind: 'public', cipher, label: 'PUBLIC KEY', octets: publicKey.export({ format: 'der', type: 'spki' }) },
      { kind: 'private', cipher, label: 'PRIVATE KEY', octets: privateKey.export({ format: 'der', type: 'pkcs8' }) },
      ...traditional(cipher, privateKey),
    ]);
    for (const key of ['P-256', 'RSA-2048', 'Ed25519'] as const) {
      const { certificate } = await makeIdentity({ key, ca: true, subject: 'CN=drawn' });
      sound.push({ kind: 'certificate', cipher: '', label: 'CERTIFICATE', octets: certificate });
      const csr = await makeCsr({ keys: await makeKeys(key), subject: 'CN=drawn' });
      sound.push({ kind: 'request', cipher: '', label: 'CERTIFICATE REQUEST', octets: csr });
    }
    for (const type of ['ecc', 'rsa'] as const) {
      const { publicKey } = await generateKey({
        userIDs: [{ name: 'drawn' }],
        format: 'binary',
        ...(type === 'ecc' ? { type, curve: 'nistP256' as const } : { type, rsaBits: 2048 }),
      });
      sound.push({ kind: 'openpgp', cipher: '', label: 'PGP PUBLIC KEY BLOCK', octets: Buffer.from(publicKey) });
    }
    return new KeyCaseMaker(dice, sound);
  }

  draw(): KeyCase {
    return this.#dice.chance(0.4) ? this.#odd() : this.#mutated();
  }

  #mutated(): KeyCase {
    const base = this.#dice.pick(this.#sound);
    let { octets } = base;
    for (let times = 1 + this.#dice.below(3); times > 0 && octets.length > 0; times -= 1) octets = this.#change(octets);
    return { ...base, octets };
  }

  #change(octets: Buffer): Buffer {
    const at = this.#dice.below(octets.length);
    const [before, after] = [octets.subarray(0, at), octets.subarray(at)];
    const changes = [
      () => Buffer.concat([before, Buffer.of(this.#dice.below(256)), after.subarray(1)]),
      () => Buffer.concat([before, after.subarray(1 + this.#dice.below(8))]),
      () => Buffer.concat([before, after.subarray(0, 16), after]),
      () => before,
      () => Buffer.concat([before, Buffer.alloc(Math.min(after.length, 40), this.#dice.pick([0, 0xff])), after.subarray(40)]),
    ];
    return this.#dice.pick(changes)();
  }

  /** Well-formed, with numbers out of their range. */
  #odd(): KeyCase {
    const [cipher, curve] = this.#dice.pick(curves);
    const makers: readonly (() => Omit<KeyCase, 'cipher'> & { cipher?: string })[] = [
      () => ({ kind: 'public', label: 'PUBLIC KEY', octets: ecSpki(curve, this.#point(curve)) }),
      () => ({ kind: 'private', label: 'PRIVATE KEY', octets: ecPkcs8(curve, this.#scalar(curve), this.#optional(this.#point(curve))) }),
      () => ({ kind: 'private', label: 'EC PRIVATE KEY', octets: ecSec1(curve, this.#scalar(curve), this.#optional(this.#point(curve))) }),
      () => ({ kind: 'public', cipher: 'rsa-2048', label: 'PUBLIC KEY', octets: rsaSpki(this.#modulus(), this.#exponent()) }),
    ];
    return { cipher, ...this.#dice.pick(makers)() };
  }

  #optional<T>(value: T): T | undefined {
    return this.#dice.chance(0.5) ? value : undefined;
  }

  #point(curve: string): Buffer {
    const octets = coordinateOctets(curve);
    const random = Buffer.from(Array.from({ length: octets }, () => this.#dice.below(256)));
    return Buffer.from(
      this.#dice.pick<Uint8Array>([
        infinity,
        Buffer.alloc(0),
        Buffer.concat([Buffer.of(this.#dice.pick([2, 3])), random]),
        Buffer.concat([Buffer.of(this.#dice.pick([4, 6, 7])), random, random]),
        Buffer.concat([Buffer.of(4), Buffer.alloc(2 * octets, this.#dice.pick([0, 0xff]))]),
      ]),
    );
  }

  #scalar(curve: string): Buffer {
    const octets = coordinateOctets(curve);
    const order = Buffer.from(orders[curve] as string, 'hex');
    const above = Buffer.from(order);
    above[octets - 1] = (above[octets - 1] as number) + this.#dice.below(3);
    return this.#dice.pick([
      Buffer.alloc(0),
      Buffer.alloc(octets),
      Buffer.of(1),
      above,
      Buffer.alloc(octets, 0xff),
      Buffer.alloc(octets + 9, 0xff),
    ]);
  }

  #modulus(): bigint {
    const bits = this.#dice.pick([0n, 1n, 512n, 2047n, 2048n, 8192n, 17_000n, 60_000n]);
    return 2n ** bits - BigInt(this.#dice.below(4));
  }

  #exponent(): bigint {
    return this.#dice.pick([0n, 1n, 2n, 3n, 65_537n, 65_536n, 2n ** 64n + 1n, 2n ** 256n + 1n, 2n ** 2047n + 1n]);
  }
}

/** Orders of the base points (FIPS 186-5, SP 800-186 3.2.1). */
const orders: Readonly<Record<string, string>> = {
  'P-256': 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551',
  'P-384': 'ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973',
  'P-521':
    '01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409',
};

function traditional(cipher: string, key: KeyObject): KeyCase[] {
  if (cipher === 'rsa-2048')
    return [{ kind: 'private', cipher, label: 'RSA PRIVATE KEY', octets: key.export({ format: 'der', type: 'pkcs1' }) }];
  if (!cipher.startsWith('ecdsa')) return [];
  return [{ kind: 'private', cipher, label: 'EC PRIVATE KEY', octets: key.export({ format: 'der', type: 'sec1' }) }];
}

/** The text of a case, in the encoding of its field. */
export function textOf({ label, octets }: KeyCase): string {
  return label.startsWith('PGP')
    ? `-----BEGIN ${label}-----\n\n${octets.toString('base64')}\n-----END ${label}-----\n`
    : pem(label, octets);
}
