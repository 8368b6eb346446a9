// Makes the fixed vectors of sealed data after its description alone, with other code than the client libraries:
// node test/vectors/sealed/make.ts > test/vectors/sealed/sealed.json
import { createCipheriv, createHash, hkdfSync } from 'node:crypto';

export type Vector = {
  /** hexadecimal, like salt and nonce-prefix */
  readonly 'data-key': string;
  readonly salt: string;
  readonly 'nonce-prefix': string;
  readonly 'wrapped-key': string;
  /** of the plaintext, which `plaintextOf` makes */
  readonly length: number;
  /** hexadecimal, of the whole */
  readonly 'sha-256': string;
  /** hexadecimal, the whole behind the header, of short ones */
  readonly pieces?: string;
  /** hexadecimal, without the zeros at its end */
  readonly header: string;
};

const piece = 65_536;

/** The plaintext of a vector: no two pieces are alike. */
export function plaintextOf(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, index) => index + 3 * (index >> 8) + 5 * (index >> 16)));
}

function sealed(plaintext: Buffer, dataKey: Buffer, salt: Buffer, prefix: Buffer, wrapped: string): Buffer {
  const derived = Buffer.from(hkdfSync('sha256', dataKey, salt, 'keystored sealed data 1', 64));
  const bound = Buffer.concat([Buffer.from('KSEALED\x01', 'latin1'), salt, prefix, derived.subarray(32)]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(wrapped.length);
  const header = Buffer.alloc(1_024);
  Buffer.concat([bound, length, Buffer.from(wrapped)]).copy(header);
  const count = Math.max(1, Math.ceil(plaintext.length / piece));
  const pieces = Array.from({ length: count }, (_, index) => {
    const counter = Buffer.alloc(5);
    counter.writeUInt32BE(index);
    counter[4] = index === count - 1 ? 1 : 0;
    const cipher = createCipheriv('aes-256-gcm', derived.subarray(0, 32), Buffer.concat([prefix, counter])).setAAD(bound);
    return [cipher.update(plaintext.subarray(index * piece, (index + 1) * piece)), cipher.final(), cipher.getAuthTag()];
  });
  return Buffer.concat([header, ...pieces.flat()]);
}

function vector(length: number, number: number): Vector {
  const octets = (name: string, count: number): Buffer =>
    createHash('sha256').update(`${name} of vector ${number}`).digest().subarray(0, count);
  const [dataKey, salt, prefix] = [octets('data key', 32), octets('salt', 32), octets('nonce prefix', 7)];
  const wrapped = `store:v${number}:${octets('wrapped key', 32).toString('base64')}`;
  const whole = sealed(plaintextOf(length), dataKey, salt, prefix, wrapped);
  return {
    'data-key': dataKey.toString('hex'),
    salt: salt.toString('hex'),
    'nonce-prefix': prefix.toString('hex'),
    'wrapped-key': wrapped,
    length,
    'sha-256': createHash('sha256').update(whole).digest('hex'),
    ...(length > 100 ? {} : { pieces: whole.subarray(1_024).toString('hex') }),
    header: whole.subarray(0, 81 + wrapped.length).toString('hex'),
  };
}

if (import.meta.main) {
  const lengths = [0, 1, 100, piece - 1, piece, piece + 1, 2 * piece, 3 * piece + 1_000];
  process.stdout.write(
    `${JSON.stringify(
      lengths.map((length, index) => vector(length, index + 1)),
      undefined,
      2,
    )}\n`,
  );
}
