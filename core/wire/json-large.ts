// A large body whose bulk is one text: the text stays in the body's buffer, and only the rest is parsed.
import { isUtf8 } from 'node:buffer';
import { concat } from '../base/bytes.ts';
import { fail } from '../base/errors.ts';
import { failAt } from '../base/texts/invalid.ts';
import { parseJsonObject, type JsonObject } from './json.ts';

/** A parsed body; when the text was taken out, its octets in UTF-8, and an empty text in its place. */
export type LargeJson = { readonly value: JsonObject; readonly text?: Uint8Array };

/** Least length of a text that is taken out; a shorter one is parsed with the rest. */
const leastTextOctets = 64 * 1024;
/** Limit of the rest, the same as for any other body, because parsing takes several times its length in memory. */
const mostAroundOctets = 4 * 1024 * 1024;
const pieceOctets = 64 * 1024;

const [quote, backslash, colon, comma, openBrace, openBracket, closeBrace, closeBracket] = Buffer.from('"\\:,{[}]') as unknown as number[];

/**
 * As parseJsonObject, except that a long text of the member `field` is taken out: unescaped in place, without a copy. Throws
 * `invalid-json`, `invalid-value` for lone surrogates, and `payload-too-large` when the rest is too large.
 */
export function parseAround(body: Uint8Array, field: string): LargeJson {
  if (!isUtf8(body)) throw fail('invalid-json', { detail: 'The body must be UTF-8.' });
  const octets = Buffer.from(body.buffer, body.byteOffset, body.length);
  const [found, another] = findTexts(octets, field);
  if (another !== undefined) throw fail('invalid-json', { detail: 'The body has the same member twice.' });
  const length = found === undefined ? 0 : found.end - found.start;
  if (body.length - length > mostAroundOctets) {
    throw fail('payload-too-large', { detail: `Beside ${field} the body may have at most ${mostAroundOctets} octets.` });
  }
  if (found === undefined || length < leastTextOctets) return { value: parseJsonObject(body) };
  const value = parseJsonObject(concat(octets.subarray(0, found.start), octets.subarray(found.end)));
  return { value, text: unescapeInPlace(octets.subarray(found.start, found.end), field) };
}

type Stretch = { readonly start: number; readonly end: number };

/** Finds the texts of that member of the outermost object, without their quotes. Skips from quote to quote. */
function findTexts(octets: Buffer, field: string): readonly Stretch[] {
  const name = Buffer.from(field);
  const found: Stretch[] = [];
  let depth = 0;
  let place: 'name' | 'wanted' | 'other' = 'other';
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at];
    if (octet === quote) {
      const end = endOfString(octets, at);
      if (depth === 1 && place === 'name') place = octets.subarray(at + 1, end).equals(name) ? 'wanted' : 'other';
      else if (depth === 1 && place === 'wanted') {
        found.push({ start: at + 1, end });
        place = 'other';
      }
      at = end;
    } else if (octet === openBrace || octet === openBracket) {
      depth++;
      place = depth === 1 && octet === openBrace ? 'name' : 'other';
    } else if (octet === closeBrace || octet === closeBracket) depth--;
    else if (octet === comma && depth === 1) place = 'name';
    else if (octet !== colon && octet !== undefined && octet > 0x20) place = 'other';
  }
  return found;
}

/** Index of the closing quote; without one the end, which the parser then reports. */
function endOfString(octets: Buffer, open: number): number {
  let close = octets.indexOf(quote as number, open + 1);
  while (close !== -1 && isEscaped(octets, close)) close = octets.indexOf(quote as number, close + 1);
  return close === -1 ? octets.length : close;
}

function isEscaped(octets: Buffer, at: number): boolean {
  let backslashes = 0;
  while (octets[at - 1 - backslashes] === backslash) backslashes++;
  return backslashes % 2 === 1;
}

/** Unescapes the text of a JSON string in place: UTF-8 is never longer than the escaped form. */
function unescapeInPlace(octets: Buffer, field: string): Uint8Array {
  let end = 0;
  for (let at = 0; at < octets.length;) {
    const next = endOfPiece(octets, at + pieceOctets);
    const piece = octets.subarray(at, next);
    if (piece.includes(backslash as number)) {
      const text = unescape(piece);
      if (!text.isWellFormed()) {
        throw failAt(field, `"${field}" must be well-formed Unicode.`);
      }
      end += octets.write(text, end, 'utf8');
    } else {
      // eslint-disable-next-line no-control-regex -- JSON has them only as escapes
      if (/[\u0000-\u001f]/.test(piece.toString('latin1'))) throw fail('invalid-json', { detail: 'The body is not JSON.' });
      octets.copyWithin(end, at, next);
      end += piece.length;
    }
    at = next;
  }
  return octets.subarray(0, end);
}

function unescape(piece: Buffer): string {
  try {
    return JSON.parse(`"${piece.toString('utf8')}"`) as string;
  } catch {
    throw fail('invalid-json', { detail: 'The body is not JSON.' });
  }
}

/** The next position from `at` that splits no character, escape or pair of escapes: an escape has six octets at most. */
function endOfPiece(octets: Buffer, at: number): number {
  let end = at;
  while (end < octets.length && (((octets[end] ?? 0) & 0xc0) === 0x80 || octets.subarray(end - 6, end).includes(backslash as number)))
    end++;
  return Math.min(end, octets.length);
}
