// Private keys as OpenSSH writes them (PROTOCOL.key of OpenSSH): read as JWK, because OpenSSL does not know the format.

const magic = Buffer.from('openssh-key-v1\0');
const curves: Readonly<Record<string, string>> = { nistp256: 'P-256', nistp384: 'P-384', nistp521: 'P-521' };

/** Thrown for an OpenSSH private key that is not read; the message says why, and how to mend it. */
export class OpensshKeyError extends Error {
  override readonly name = 'OpensshKeyError';
}

/** The key as JWK. Throws OpensshKeyError: for an encrypted key, several keys, another type, and what cannot be read. */
export function jwkOfOpenssh(octets: Uint8Array): JsonWebKey {
  const outer = new SshReader(Buffer.from(octets.buffer, octets.byteOffset, octets.length));
  if (!outer.take(magic.length).equals(magic)) throw unreadable();
  const cipher = outer.string().toString('latin1');
  if (cipher !== 'none')
    throw unusable(
      `The OpenSSH private key is encrypted, which is not read here. Take the passphrase off a copy ("cp KEY COPY && ssh-keygen -p -N '' -f COPY"), import that with "keystorectl import-key", which wraps it, and delete it.`,
    );
  outer.string();
  outer.string();
  if (outer.number() !== 1) throw unusable('The OpenSSH file has several keys; one is taken.');
  outer.string();
  const fields = new SshReader(outer.string());
  if (fields.number() !== fields.number()) throw unreadable();
  const type = fields.string().toString('latin1');
  if (type === 'ssh-ed25519') {
    const publicKey = fields.string();
    const seed = fields.string().subarray(0, 32);
    return { kty: 'OKP', crv: 'Ed25519', x: text(publicKey), d: text(seed) };
  }
  if (type === 'ssh-rsa') return rsa(fields);
  if (type.startsWith('ecdsa-sha2-')) return ecdsa(fields);
  throw unusable('The OpenSSH private key is of another type; RSA, ECDSA and Ed25519 are taken.');
}

function ecdsa(fields: SshReader): JsonWebKey {
  const crv = curves[fields.string().toString('latin1')];
  const point = fields.string();
  const width = (point.length - 1) / 2;
  if (crv === undefined || point[0] !== 4) throw unreadable();
  const d = withoutZeros(fields.string());
  if (d.length > width) throw unreadable();
  const [x, y] = [point.subarray(1, 1 + width), point.subarray(1 + width)];
  return { kty: 'EC', crv, x: text(x), y: text(y), d: text(Buffer.concat([Buffer.alloc(width - d.length), d])) };
}

function rsa(fields: SshReader): JsonWebKey {
  const [n, e, d, qi, p, q] = Array.from({ length: 6 }, () => withoutZeros(fields.string())) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  if ([n, e, d, qi, p, q].some((one) => one.length === 0 || one.length > 1_024)) throw unreadable();
  const modulo = (prime: Buffer): Buffer => octetsOf(numberOf(d) % (numberOf(prime) - 1n || 1n));
  return { kty: 'RSA', n: text(n), e: text(e), d: text(d), p: text(p), q: text(q), dp: text(modulo(p)), dq: text(modulo(q)), qi: text(qi) };
}

function numberOf(octets: Buffer): bigint {
  return BigInt(`0x0${octets.toString('hex')}`);
}

function octetsOf(number: bigint): Buffer {
  const digits = number.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

function withoutZeros(octets: Buffer): Buffer {
  const start = octets.findIndex((octet) => octet !== 0);
  return start < 0 ? Buffer.alloc(0) : octets.subarray(start);
}

function text(octets: Buffer): string {
  return octets.toString('base64url');
}

/** Reads the fields of RFC 4251, section 5; a field past the end throws OpensshKeyError. */
class SshReader {
  readonly #octets: Buffer;
  #at = 0;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#octets.length) throw unreadable();
    return this.#octets.subarray(this.#at, (this.#at += length));
  }

  number(): number {
    return this.take(4).readUInt32BE();
  }

  string(): Buffer {
    return this.take(this.number());
  }
}

function unreadable(): Error {
  return unusable('The OpenSSH private key cannot be read.');
}

function unusable(detail: string): Error {
  return new OpensshKeyError(detail);
}
