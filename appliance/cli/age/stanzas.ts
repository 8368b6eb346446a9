// Stanzas of age (C2SP, age and age-plugin): a line with arguments, and a body in base64 of which the last line is shorter than 64 characters.
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export type Stanza = { readonly args: readonly string[]; readonly body: Uint8Array };

const columns = 64;
/** Characters of a body: more than any recipient has. */
const longestBody = 1_048_576;

/** Writes a stanza. */
export function writeStanza({ args, body }: Stanza): string {
  const text = body.toBase64({ omitPadding: true });
  const lines = text.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [];
  const isShort = text.length % columns !== 0;
  return `-> ${args.join(' ')}\n${[...lines, ...(isShort ? [] : [''])].join('\n')}\n`;
}

/** Reads stanzas from a stream, one after another. Throws SyntaxError for anything else. */
export async function* readStanzas(stream: Readable): AsyncGenerator<Stanza, void> {
  const lines = createInterface({ input: stream, crlfDelay: 0 })[Symbol.asyncIterator]();
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
    const args = line.value.startsWith('-> ') ? line.value.slice(3).split(' ') : [];
    if (args.length === 0 || args.some((arg) => !/^[!-~]+$/.test(arg))) throw new SyntaxError('the line is not the first one of a stanza');
    let text = '';
    for (let part = await lines.next(); ; part = await lines.next()) {
      if (part.done === true || part.value.length > columns) throw new SyntaxError('the body of a stanza has no end');
      text += part.value;
      if (text.length > longestBody) throw new SyntaxError('the body of a stanza is too long');
      if (part.value.length < columns) break;
    }
    yield { args, body: octetsOf(text) };
  }
}

function octetsOf(text: string): Uint8Array {
  const octets = new Uint8Array(Buffer.from(text, 'base64'));
  if (octets.toBase64({ omitPadding: true }) !== text) throw new SyntaxError('the body of a stanza is not base64');
  return octets;
}
