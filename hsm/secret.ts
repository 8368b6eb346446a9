// A value that must not be printed: every form of output shows [secret], and only revealSecret opens it.
import { inspect } from 'node:util';

const opened = new WeakMap<Secret<unknown>, unknown>();

/** A secret of type T. Printing, string conversion, JSON and structured logging all give `[secret]`. */
export class Secret<T> {
  // The brand keeps Secret<string> and Secret<Uint8Array> apart for the type checker; it holds nothing at run time.
  declare private readonly brand: T;

  constructor(value: T) {
    opened.set(this, value);
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** Opens a secret. Every place that handles a secret in clear is found by searching for this name. */
export function revealSecret<T>(secret: Secret<T>): T {
  return opened.get(secret) as T;
}
