// Messages of a command that lives long: a line each, and not the same one again and again.
import type { Io } from '../terminal/io.ts';

const mostRemembered = 100;

/** Lines on standard error for a person, each once until `clear`. */
export class Notices {
  readonly #io: Io;
  readonly #name: string;
  #last = new Set<string>();

  constructor(io: Io, name: string) {
    this.#io = io;
    this.#name = name;
  }

  tell(message: string): void {
    const line = message.replaceAll(/\s*\n\s*/g, '; ');
    // A request id differs every time, and so may the code of a connection that is lost or refused.
    const same = line.replace(/; request-id .*/, '').replace(/ \([A-Z_]+\)/, '');
    if (this.#last.has(same)) return;
    if (this.#last.size >= mostRemembered) this.#last.clear();
    this.#last.add(same);
    this.#io.stderr.write(`${this.#name}: ${line}\n`);
  }

  /** All is well again: what is told next is news. */
  clear(): void {
    if (this.#last.size > 0) this.#last = new Set();
  }
}
