// keystorectl in the test's own process: real requests to a real appliance, streams and environment of the test's own.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runKeystorectl } from '../../../appliance/cli/main.ts';
import type { TestAppliance } from '../../harness/appliance.ts';

export type Run = { readonly code: number; readonly stdout: string; readonly stderr: string };
export type RunOptions = {
  /** what comes in over a pipe; without it standard input is a terminal */
  readonly stdin?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
  /** what a person types at a terminal; a function is called when somebody reads there */
  readonly typed?: string | (() => Promise<string>);
  /** output goes to a terminal */
  readonly terminal?: boolean;
  /** called with all of standard error so far, whenever there is more */
  readonly onStderr?: (text: string) => void;
};

export type Ctl = {
  (words: readonly string[], options?: RunOptions): Promise<Run>;
  /** Runs what must work and answers its output as JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  json(...words: string[]): Promise<any>;
};

/** For an appliance; home, profile and cache are below the directory. */
export function ctlFor(appliance: Pick<TestAppliance, 'url' | 'rootToken'>, caPem: string, directory: string): Ctl {
  const ca = join(directory, 'ca.pem');
  writeFileSync(ca, caPem);
  const defaults = { HOME: directory, KEYSTORED_URL: appliance.url, KEYSTORED_CA: ca, KEYSTORED_TOKEN: appliance.rootToken };
  const ctl = async (words: readonly string[], options: RunOptions = {}): Promise<Run> => {
    const { stdin, typed, environment = {}, terminal = false, onStderr } = options;
    const [stdout, stderr] = [new Collector(terminal), new Collector(terminal, onStderr)];
    const input = Object.assign(Readable.from(inputOf(stdin ?? typed ?? '')), { isTTY: stdin === undefined });
    const code = await runKeystorectl(words, { environment: { ...defaults, ...environment }, stdin: input, stdout, stderr });
    return { code, stdout: stdout.text, stderr: stderr.text };
  };
  return Object.assign(ctl, {
    async json(...words: string[]) {
      const { code, stdout, stderr } = await ctl(words);
      if (code !== 0) throw new Error(`keystorectl ${words.join(' ')}: exit code ${code}\n${stderr}`);
      return stdout === '' ? undefined : JSON.parse(stdout);
    },
  });
}

async function* inputOf(source: string | Uint8Array | (() => Promise<string>)): AsyncGenerator<Buffer> {
  const text = typeof source === 'function' ? await source() : source;
  if (text.length > 0) yield Buffer.from(text);
}

class Collector extends Writable {
  readonly isTTY: boolean;
  readonly columns = 120;
  readonly #chunks: Buffer[] = [];
  readonly #onMore: ((text: string) => void) | undefined;

  constructor(isTTY: boolean, onMore?: (text: string) => void) {
    super();
    this.isTTY = isTTY;
    this.#onMore = onMore;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    this.#onMore?.(this.text);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
