// PEM texts from users, parsed line by line, so that a hostile text costs time in proportion to its length only (RFC 7468).

/** One block: its label, and its own text from the BEGIN to the END line. */
export type PemBlock = { readonly label: string; readonly text: string };

/** Longest PEM accepted: an ML-DSA-87 private key needs about 7 KiB. */
export const maxPemCharacters = 16_384;

/**
 * The blocks of a text in order; text between blocks is skipped. Newlines written as the two characters `\n`, as in a single-line
 * string (spec, field public-key), count as newlines. A block without its END line is left out.
 */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let label: string | undefined;
  let lines: string[] = [];
  for (const raw of text.replaceAll('\\n', '\n').split('\n')) {
    const line = raw.trim();
    if (line.startsWith('-----BEGIN ') && line.endsWith('-----')) {
      label = shownLabel(line.slice(11, -5));
      lines = [];
    }
    lines.push(line);
    if (label !== undefined && line.startsWith('-----END ')) {
      blocks.push({ label, text: lines.join('\n') });
      label = undefined;
    }
  }
  return blocks;
}

// Labels go into messages: only the shape that real ones have.
function shownLabel(label: string): string {
  return /^[A-Z0-9 ]{1,40}$/.test(label) ? label : 'of an unknown kind';
}

/** PEM of DER octets: lines of 64 characters, newline at the end. */
export function formatPem(label: string, der: Uint8Array): string {
  const lines = der.toBase64().match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
