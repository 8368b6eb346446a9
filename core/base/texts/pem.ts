// PEM blocks (RFC 7468) in texts of others, as tools, editors and environment variables leave them. One reader for all fields that take PEM.
import { decodeBase64 } from '../bytes.ts';

/** One block. */
export type PemBlock = {
  readonly label: string;
  /** undefined if the text between its first and last line is not pure base64: damaged, or with headers as in encrypted keys */
  readonly der: Uint8Array | undefined;
  /** the block alone, with line ends that OpenSSL reads */
  readonly text: string;
};

/** Longest PEM of a key that is accepted: an ML-DSA-87 private key needs about 7 KiB. */
export const maxPemCharacters = 16_384;

/** Labels of certificates, the former one last. */
export const certificateLabels = ['CERTIFICATE', 'X509 CERTIFICATE'] as const;

export function isCertificateLabel(label: string): boolean {
  return (certificateLabels as readonly string[]).includes(label);
}

const begin = '-----BEGIN ';
const dashes = '-----';

/**
 * The blocks of a text in order; text between them is skipped, and a block without its END line is left out. A byte order mark, line ends
 * of every kind, spaces in their place (a secret in an environment variable) and the two characters `\n` (a text in one line) do not
 * matter. Costs time in proportion to the length of the text.
 */
export function readPem(given: string): readonly PemBlock[] {
  const text = given.replaceAll(/\\r\\n|\\n|\\r/g, '\n');
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(begin); at >= 0;) {
    const endOfLabel = text.indexOf(dashes, at + begin.length);
    if (endOfLabel < 0) break;
    const next = text.indexOf(begin, endOfLabel);
    const label = text.slice(at + begin.length, endOfLabel);
    const end = `-----END ${label}-----`;
    const until = label.length <= longestLabel ? text.slice(endOfLabel + dashes.length, next < 0 ? undefined : next) : '';
    const close = until.indexOf(end);
    if (close >= 0) blocks.push(blockOf(label, until.slice(0, close)));
    at = next;
  }
  return blocks;
}

const longestLabel = 64;

function blockOf(label: string, body: string): PemBlock {
  const der = decodeBase64(body.replaceAll(/\s/g, ''));
  const lines = body
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .join('\n');
  return {
    label: shownLabel(label),
    der,
    text: der === undefined ? `${begin}${label}-----${lines}-----END ${label}-----\n` : formatPem(label, der),
  };
}

// Labels go into messages: only the shape that real ones have.
function shownLabel(label: string): string {
  return /^[A-Z0-9 ]{1,40}$/.test(label) ? label : 'of an unknown kind';
}

/** Reads the DER of the blocks with one of these labels, or of one DER in base64 instead of PEM. Undefined if a block is damaged or none is found. */
export function readDer(text: string, ...labels: readonly string[]): readonly Uint8Array[] | undefined {
  const instead = derInPlaceOfPem(text);
  if (instead !== undefined) return [instead];
  const found = readPem(text).flatMap(({ label, der }) => (labels.includes(label) ? [der] : []));
  return found.length > 0 && found.every((der) => der !== undefined) ? found : undefined;
}

/** PEM of DER octets: lines of 64 characters, newline at the end. */
export function formatPem(label: string, der: Uint8Array): string {
  const lines = der.toBase64().match(/.{1,64}/g) ?? [];
  return `${begin}${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** Reads DER in base64 given instead of PEM; undefined for PEM, and unless it is a SEQUENCE, as all PEM contents here are. */
export function derInPlaceOfPem(text: string): Uint8Array | undefined {
  const der = text.includes(begin) ? undefined : decodeBase64(text.replaceAll(/\s/g, ''));
  return der?.[0] === 0x30 ? der : undefined;
}

/** Describes a text without the expected block by the blocks that it has. Follows "must be …; this is". */
export function seenInPem(text: string): string {
  const blocks = readPem(text);
  const labels = [...new Set(blocks.map(({ label }) => label))];
  if (labels.length > 0) return blocks.length === 1 ? `a PEM block ${labels.join()}` : `${blocks.length} PEM blocks, ${labels.join(', ')}`;
  return text.includes(begin) ? 'a PEM block without its last line' : 'neither PEM nor base64 of DER';
}
