// Texts of certificates, requests for them, CRLs and public keys, also as JWK, recognised by what they contain: a label alone proves nothing.
import { decodeBase64 } from '../base/bytes.ts';
import { readPem } from '../base/texts/pem.ts';
import { Reader, tag } from './der.ts';

/** Judgement of a text with certificates or keys. */
export type Disclosure = 'public' | 'doubtful';

const fewestOctets = 16;

/**
 * Judges a text with PEM blocks, of DER in base64 or of a JWK, as users paste them in place of each other; undefined for any other text. `public`: it has
 * blocks of public things and nothing else but white space. Reads at most `longest` characters; a longer text is doubtful.
 */
export function disclosureOf(text: string, longest: number): Disclosure | undefined {
  const isMarked = text.includes('-----BEGIN') || isLikeJwk(text);
  if (text.length > longest) return isMarked ? 'doubtful' : undefined;
  if (isLikeJwk(text)) return isPublicJwk(text) ? 'public' : 'doubtful';
  if (isMarked) return hasOnlyPublicBlocks(text) ? 'public' : 'doubtful';
  // Every key is a SEQUENCE in DER, which begins with an M in base64.
  const bare = text.replaceAll(/\s|\\n|\\r/g, '');
  const der = bare.startsWith('M') ? decodeBase64(bare) : undefined;
  if (der === undefined || der.length < fewestOctets || partsOf(der) === undefined) return undefined;
  return isPublic(der) ? 'public' : 'doubtful';
}

function isLikeJwk(text: string): boolean {
  return text.trimStart().startsWith('{') && text.includes('"kty"');
}

/** Members of JWK that say nothing of a private or symmetric key (RFC 7517 section 4, RFC 7518 section 6, RFC 8037 section 2). */
const publicMembers: ReadonlySet<string> = new Set([
  ...['kty', 'use', 'key_ops', 'alg', 'kid', 'x5u', 'x5c', 'x5t', 'x5t#S256', 'crv', 'x', 'y', 'n', 'e', 'pub'],
]);

function isPublicJwk(text: string): boolean {
  try {
    return Object.keys(JSON.parse(text) as object).every((member) => publicMembers.has(member));
  } catch {
    return false;
  }
}

function hasOnlyPublicBlocks(text: string): boolean {
  const blocks = readPem(text);
  const between = text.replaceAll(/\\r\\n|\\n|\\r/g, '\n').replaceAll(/-----BEGIN ([A-Z0-9 ]{1,40})-----[^-]*-----END \1-----/g, '');
  return between.trim() === '' && blocks.length > 0 && blocks.every(({ der }) => der !== undefined && isPublic(der));
}

/** Certificates, requests and CRLs are SEQUENCE, SEQUENCE, BIT STRING; public keys SEQUENCE, BIT STRING. Private keys begin with a version. */
function isPublic(der: Uint8Array): boolean {
  const parts = partsOf(der);
  const { sequence, bitString } = tag;
  return [
    [sequence, sequence, bitString],
    [sequence, bitString],
  ].some((form) => form.length === parts?.length && form.every((one, index) => parts[index] === one));
}

/** The tags in a SEQUENCE that is all of the octets; undefined for others. */
function partsOf(der: Uint8Array): readonly number[] | undefined {
  try {
    const all = new Reader(der);
    const parts = [...all.enter(tag.sequence).rest()].map((part) => part.tag);
    all.end();
    return parts;
  } catch {
    return undefined;
  }
}
