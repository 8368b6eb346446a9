// Texts as OpenPGP hashes them: lines that end in CR LF; in the cleartext framework without blanks at their ends (RFC 9580, 5.2.1 and 7).
import { setImmediate } from 'node:timers/promises';
import { fail as failCore } from '../../../core/base/errors.ts';

/** Most octets of a text that is read line by line. */
export const maxLinedBytes = 8 * 1024 * 1024;

/** Most octets of a line: gpg cuts lines of 20,000 characters, and then finds the signature bad. */
const maxLineBytes = 19_000;

/** Most octets of a line of a cleartext document that ends in blanks: rnp takes lines in pieces of 4096, and then finds the signature bad. */
const maxBlankEndedBytes = 4_000;

const [tab, lineFeed, carriageReturn, blank, dash] = [0x09, 0x0a, 0x0d, 0x20, 0x2d];
const from = Buffer.from('From ');
const crlf = Uint8Array.of(carriageReturn, lineFeed);
const escape = Uint8Array.of(dash, blank);

/** Lines written between two turns of the event loop, in octets; a line costs as much as so many octets more. */
const [turnBytes, lineBytes] = [256 * 1024, 128];

/** A text as a signature of type 0x01 covers it: every line ending as CR LF, and nothing else changed. Throws as eachLine. */
export async function canonicalText(text: Uint8Array): Promise<Uint8Array> {
  const { octets, add } = writerFor(text, 1);
  await eachLine(text, (line, ending) => {
    add(line);
    if (ending.length > 0) add(crlf);
  });
  return octets();
}

/**
 * A text in the cleartext framework: what is hashed, and what stands between header and signature, which ends in a line feed. Throws as eachLine.
 */
export async function cleartext(text: Uint8Array): Promise<{ readonly hashed: Uint8Array; readonly framed: Uint8Array }> {
  const [hashed, framed] = [writerFor(text, 1), writerFor(text, 2)];
  let isFirst = true;
  await eachLine(text, (line, ending) => {
    // The ending of the last line belongs to the frame.
    if (!isFirst) hashed.add(crlf);
    isFirst = false;
    const covered = withoutBlanks(line);
    if (covered.length < line.length && line.length > maxBlankEndedBytes)
      throw refused(`has a line of more than ${maxBlankEndedBytes} octets that ends in blanks, which rnp hashes in another way`);
    hashed.add(covered);
    if (line[0] === dash || startsWith(line, from)) framed.add(escape);
    framed.add(line);
    framed.add(ending.length === 0 ? crlf.subarray(1) : ending);
  });
  return { hashed: hashed.octets(), framed: framed.octets() };
}

/** Room for the text and `perLine` octets more for each line, of which each octet may be one. What is not written to takes no memory. */
export function writerFor(text: Uint8Array, perLine: number) {
  const room = new Uint8Array((text.length + 1) * (1 + perLine) + 2);
  let used = 0;
  return {
    add: (octets: Uint8Array): void => {
      room.set(octets, used);
      used += octets.length;
    },
    octets: (): Uint8Array => room.subarray(0, used),
  };
}

/**
 * Calls `take` with each line and its ending: LF, CR LF, or nothing at the end of the text. The last ending begins no further line.
 * Throws `payload-too-large`, and `invalid-value` for what verifiers hash in different ways.
 */
export async function eachLine(
  text: Uint8Array,
  take: (line: Uint8Array, ending: Uint8Array) => void,
  most: number = maxLinedBytes,
): Promise<void> {
  if (text.length > most)
    throw failCore('payload-too-large', {
      detail: `A text in this form may have at most ${most / 1024 / 1024} MiB; use detached.`,
    });
  let sinceTurn = 0;
  for (let at = 0; at < text.length;) {
    const found = text.indexOf(lineFeed, at);
    const end = found === -1 ? text.length : found;
    const isCrlf = found > at && text[found - 1] === carriageReturn;
    const line = text.subarray(at, isCrlf ? end - 1 : end);
    if (line.length > maxLineBytes) throw refused(`has a line of more than ${maxLineBytes} octets, and gpg cuts such lines`);
    if (line.includes(carriageReturn))
      throw refused('has a carriage return without a line feed behind it, which programs hash in different ways');
    take(line, text.subarray(at + line.length, found === -1 ? end : end + 1));
    sinceTurn += line.length + lineBytes;
    at = end + 1;
    if (sinceTurn < turnBytes) continue;
    sinceTurn = 0;
    await setImmediate();
  }
}

/** A line without blanks and tabs at its end. */
export function withoutBlanks(line: Uint8Array): Uint8Array {
  let end = line.length;
  while (end > 0 && (line[end - 1] === blank || line[end - 1] === tab)) end -= 1;
  return line.subarray(0, end);
}

function startsWith(line: Uint8Array, start: Uint8Array): boolean {
  return line.length >= start.length && start.every((octet, at) => line[at] === octet);
}

function refused(what: string): Error {
  return failCore('invalid-value', {
    detail: `text ${what}: it can be signed with the form detached only.`,
    items: [{ message: what, info: 'text' }],
  });
}
