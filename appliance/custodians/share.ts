// The share of a custodian as text: ks1-<ceremony>-<number>-<share>-<check>, so that typing errors are found before anything is sent.
import { hash } from 'node:crypto';
import { revealSecret, Secret } from '../../core/base/secret.ts';

export type Share = {
  /** of the ceremony in which it was made */
  readonly ceremony: string;
  /** from 1 on, in its ceremony */
  readonly number: number;
  readonly value: Secret<Uint8Array>;
};

/** Octets of a share of a key of 32 octets. */
const shareBytes = 33;
const checkLetters = 4;
/** Crockford's: without letters that look like digits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
export const ceremonyPattern = /^[0-9a-hjkmnp-tv-z]{8}$/;

export function formatShare({ ceremony, number, value }: Share): Secret<string> {
  const text = `ks1-${ceremony}-${number}-${encode(revealSecret(value))}`;
  return new Secret(`${text}-${checkOf(text)}`);
}

/** Undefined for a text that is not a share, or has a typing error. Case, white space and letters that look like digits do not matter. */
export function parseShare(given: Secret<string>): Share | undefined {
  const text = readable(revealSecret(given).toLowerCase().replaceAll(/\s/g, ''));
  const [mark, ceremony = '', number = '', letters = '', check, ...more] = text.split('-');
  const value = decode(letters);
  if (mark !== 'ks1' || !ceremonyPattern.test(ceremony) || !/^(?:[1-9]|1[0-6])$/.test(number) || value === undefined) return undefined;
  if (more.length > 0 || check !== checkOf(`ks1-${ceremony}-${number}-${letters}`)) return undefined;
  return { ceremony, number: Number(number), value: new Secret(value) };
}

function readable(text: string): string {
  return text.replaceAll('o', '0').replaceAll(/[il]/g, '1');
}

function checkOf(text: string): string {
  return encode(hash('sha256', text, 'buffer').subarray(0, 3)).slice(0, checkLetters);
}

/** Eight letters that name a ceremony. */
export function ceremonyName(octets: Uint8Array): string {
  return encode(octets.subarray(0, 5));
}

function encode(octets: Uint8Array): string {
  const bits = Array.from(octets, (octet) => octet.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((part) => alphabet[Number.parseInt(part.padEnd(5, '0'), 2)]).join('');
}

function decode(text: string): Uint8Array | undefined {
  const values = Array.from(text, (letter) => alphabet.indexOf(letter));
  if (values.length !== Math.ceil((shareBytes * 8) / 5) || values.includes(-1)) return undefined;
  const bits = values.map((value) => value.toString(2).padStart(5, '0')).join('');
  if (!/^0*$/.test(bits.slice(shareBytes * 8))) return undefined;
  return Uint8Array.from({ length: shareBytes }, (_, at) => Number.parseInt(bits.slice(8 * at, 8 * at + 8), 2));
}
