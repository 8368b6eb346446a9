// The form of a token: compact JWS in canonical base64url, header and claims in strict JSON (RFC 7515 section 3.1, RFC 7519 section 7.2).
import type { Claims } from '../../../core/identity/claims.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { parseJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { TokenRefused } from './refusal.ts';

/** Longest token in characters. Tokens of platforms have 1 to 4 KiB. */
export const maxTokenLength = 16_384;

/** A token that has the form of one. Nothing of it is proved. */
export type ParsedToken = {
  readonly header: JsonObject;
  readonly claims: Claims;
  /** octets under the signature: header and claims as they were sent */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
};

/** Parses the form alone. Throws TokenRefused. */
export function parseToken(text: string): ParsedToken {
  if (text.length > maxTokenLength)
    throw new TokenRefused('form', 'too-long', `The token has ${text.length} characters; ${maxTokenLength} are taken.`);
  const parts = text.split('.');
  if (parts.length !== 3) {
    const seen = parts.length === 5 ? 'an encrypted token (JWE)' : text.trimStart().startsWith('{') ? 'JSON' : 'something else';
    throw new TokenRefused('form', 'not-compact', `A signed token has three parts with dots between them; this is ${seen}.`);
  }
  const [header, claims, signature] = parts.map(decodePart) as [Buffer, Buffer, Buffer];
  return {
    header: parsePart(header, 'header'),
    claims: parsePart(claims, 'payload'),
    signed: Buffer.from(text.slice(0, text.lastIndexOf('.')), 'latin1'),
    signature,
  };
}

/** Decodes base64url without padding. Only one text stands for each sequence of octets: a token has one spelling. */
function decodePart(text: string): Buffer {
  const octets = Buffer.from(text, 'base64url');
  if (text !== '' && octets.toString('base64url') === text) return octets;
  throw new TokenRefused('form', 'not-base64url', 'A part is empty, or not canonical base64url: blanks, line ends and = are not taken.');
}

function parsePart(octets: Buffer, part: string): JsonObject {
  try {
    return parseJsonObject(octets);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new TokenRefused('form', 'not-json', error.message.replace('The body', `The ${part}`).replace('of the body', `of the ${part}`));
  }
}

/** Names that a header may have. Those with an x5 are ignored: keys come from the settings of the issuer alone. */
const knownNames: ReadonlySet<string> = new Set(['alg', 'kid', 'typ', 'x5t', 'x5t#S256', 'x5c']);

/** Header after its check. */
export type TokenHeader = { readonly alg: string; readonly kid: string | undefined; readonly typ: string | undefined };

/** Judges the header. Throws TokenRefused for names that change what is verified (`crit`, `b64`, `zip`) or bring keys along (`jwk`, `jku`, `x5u`). */
export function readHeader({ header }: ParsedToken): TokenHeader {
  const foreign = Object.keys(header).find((name) => !knownNames.has(name));
  if (foreign !== undefined)
    throw new TokenRefused('header', 'unknown-name', `The header has "${showableText(foreign, 64)}", which is not taken.`);
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string') throw new TokenRefused('header', 'no-alg', 'The header has no alg that is a text.');
  if (kid !== undefined && (typeof kid !== 'string' || kid === ''))
    throw new TokenRefused('header', 'kid-malformed', 'kid of the header is empty, or not a text.');
  if (typ !== undefined && typeof typ !== 'string') throw new TokenRefused('header', 'typ-malformed', 'typ of the header is not a text.');
  return { alg, kid, typ };
}
