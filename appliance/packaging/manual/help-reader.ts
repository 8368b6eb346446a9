// Runs keystorectl for its help, without an appliance: the description is put where a kept copy is looked for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { OpenApiDocument } from '../../../core/http/description/document.ts';
import { loadDescription } from '../../cli/description.ts';
import { runKeystorectl } from '../../cli/main.ts';
import type { Io } from '../../cli/terminal/io.ts';

export type HelpPart = { readonly title: string; readonly text: string };

/** Nothing listens there. */
const url = 'https://localhost:1';

export class HelpReader {
  /** unread streams, and an environment of its own */
  readonly io: Io;
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.io = ioInto([], directory);
  }

  /** For an appliance with this description. Close it. */
  static async open(description: OpenApiDocument): Promise<HelpReader> {
    const reader = new HelpReader(mkdtempSync(join(tmpdir(), 'keystorectl-help-')));
    const body = Buffer.from(JSON.stringify(description));
    const answer = { status: 200, mediaType: 'application/json', headers: {}, retryAfterSeconds: undefined, body };
    const connection = { url, ca: undefined, token: undefined, context: 'default' };
    await loadDescription({ connection, exchange: () => Promise.resolve(answer) }, reader.io);
    return reader;
  }

  /** The help of a command and of each of its subcommands. Throws when one has none. */
  async of(name: string): Promise<readonly HelpPart[]> {
    const whole = await this.#read([name]);
    const [, list = ''] = /^Commands:\n((?: +\S.*\n?)+)/m.exec(whole) ?? [];
    const [, methods = ''] = /^Methods: (.+)$/m.exec(whole) ?? [];
    const listed = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, word = '']) => word);
    const subcommands = [...listed, ...methods.split(', ')].filter((word) => word !== '' && word !== 'help');
    const parts = [{ title: 'Usage', text: whole }];
    for (const word of subcommands) parts.push({ title: `${name} ${word}`, text: await this.#read([name, word]) });
    return parts;
  }

  /** Output of a command. Throws if it fails. */
  static async output(words: readonly string[], directory: string = tmpdir()): Promise<string> {
    const chunks: Buffer[] = [];
    const code = await runKeystorectl(words, ioInto(chunks, directory));
    if (code !== 0) throw new Error(`keystorectl ${words.join(' ')}: exit code ${code}`);
    return Buffer.concat(chunks).toString();
  }

  close(): void {
    rmSync(this.#directory, { recursive: true });
  }

  #read(words: readonly string[]): Promise<string> {
    return HelpReader.output([...words, '--help'], this.#directory);
  }
}

function ioInto(chunks: Buffer[], directory: string): Io {
  const write = (chunk: Buffer, _: BufferEncoding, done: () => void): void => {
    chunks.push(chunk);
    done();
  };
  const stdout = Object.assign(new Writable({ write }), { columns: 78 });
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const environment = { HOME: directory, XDG_CACHE_HOME: directory, KEYSTORED_URL: url };
  return { environment, stdin: Readable.from([]), stdout, stderr };
}
