// The unseal code: made at each seal, and shown only to people at the appliance. With it a caller may have a PIN tried.
import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Log } from '../../core/base/context.ts';
import { writeDurably } from '../../core/base/durable-files.ts';
import { revealSecret, type Secret } from '../../core/base/secret.ts';
import { paths } from '../data-directory/paths.ts';

/** As RFC 8628 section 6.1 has it: no vowels, no words, no digits that look like letters. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';
const letters = 12;
const group = 4;

/** Drawn without a token, which a sealed appliance does not have: 51 bits, as long as the seal. */
export class UnsealCode {
  readonly #data: string;
  readonly #log: Log;
  #letters: string | undefined;

  constructor(data: string, log: Log) {
    this.#data = data;
    this.#log = log;
    this.#forget();
  }

  /** Makes another one and shows it: on standard output, in the log, and in a file of the data directory. */
  renew(): void {
    this.#letters = Array.from({ length: letters }, () => alphabet[randomInt(alphabet.length)]).join('');
    const shown = this.#letters.replaceAll(new RegExp(`.{${group}}(?=.)`, 'g'), '$&-');
    console.log(`unseal code: ${shown}`);
    this.#log.info('sealed', { 'unseal-code': shown });
    try {
      writeDurably(paths.unsealCode(this.#data), `${shown}\n`);
    } catch (error) {
      this.#log.warn('the file with the unseal code cannot be written', { reason: (error as Error).message });
    }
  }

  /** Ends the code without a successor. */
  end(): void {
    this.#letters = undefined;
    this.#forget();
  }

  /** However it is spelled; in constant time. */
  isRight(given: Secret<string>): boolean {
    if (this.#letters === undefined) return false;
    const plain = revealSecret(given).toUpperCase().replaceAll(/[\s-]/g, '');
    const [own, sent] = [this.#letters, plain].map((text) => hash('sha256', text, 'buffer'));
    return timingSafeEqual(own as Buffer, sent as Buffer);
  }

  #forget(): void {
    try {
      rmSync(paths.unsealCode(this.#data), { force: true });
    } catch (error) {
      this.#log.warn('the file with an unseal code that has ended cannot be removed', { reason: (error as Error).message });
    }
  }
}
