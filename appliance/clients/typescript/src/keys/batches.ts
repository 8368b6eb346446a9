// Many items of one action: split into requests that the appliance takes, a few of them under way at a time, results in the order of items.
import { Problem } from '../problem.ts';
import type { CallOptions, Sender } from '../sender.ts';
import { type Action, itemOf, type Octets, type WireResult } from './actions.ts';

/** Outcome of one item. A failed one does not stop the others. */
export type BatchResult<T> =
  | { readonly ok: true; readonly value: T; readonly reference?: string | undefined }
  | { readonly ok: false; readonly problem: Problem; readonly reference?: string | undefined };

export type BatchOptions = CallOptions & {
  /** requests under way at the same time; default 4 */
  readonly concurrency?: number | undefined;
};

/** Limits of one request. The appliance takes 4 MiB: the rest is for the envelope and for encodings on the way. */
const mostItems = 1_000;
const mostBytes = 3 << 20;

type Part = { readonly items: readonly string[]; readonly references: readonly (string | undefined)[] };

/** A bare text or octets suffice for an action without options; verification takes objects alone. */
export type Items<Item> = Iterable<Item | Octets> | AsyncIterable<Item | Octets>;

/** Sends the items of one action on one key. `path` is the one of the single action. */
export class Batches<Item extends { readonly reference?: string | undefined }, Result> {
  readonly #sender: Sender;
  readonly #path: string;
  readonly #action: Action<Item, Result>;

  constructor(sender: Sender, path: string, action: Action<Item, Result>) {
    this.#sender = sender;
    this.#path = path;
    this.#action = action;
  }

  async all(items: Items<Item>, options: BatchOptions): Promise<BatchResult<Result>[]> {
    // Node.js 20 has no Array.fromAsync.
    const all: BatchResult<Result>[] = [];
    for await (const result of this.each(items, options)) all.push(result);
    return all;
  }

  /**
   * Results as they are there, in the order of the items. No more than `concurrency` requests and their answers are in memory; the next
   * items are taken when their results are wanted. Leaving the loop ends what is under way.
   */
  async *each(
    items: Items<Item>,
    { concurrency = 4, signal, timeoutMs }: BatchOptions,
  ): AsyncGenerator<BatchResult<Result>, void, undefined> {
    if (!Number.isInteger(concurrency) || concurrency < 1) throw new TypeError('concurrency: a whole number from 1');
    const leaving = new AbortController();
    const onEnd = (): void => leaving.abort(signal?.reason);
    signal?.addEventListener('abort', onEnd, { once: true });
    if (signal?.aborted === true) onEnd();
    const underWay: Promise<BatchResult<Result>[]>[] = [];
    try {
      for await (const part of this.#parts(items)) {
        const results = this.#send(part, { signal: leaving.signal, timeoutMs });
        // A failure is thrown when its turn comes, not before.
        results.catch(() => undefined);
        underWay.push(results);
        if (underWay.length >= concurrency) yield* (await underWay.shift()) ?? [];
      }
      for (const results of underWay) yield* await results;
    } finally {
      signal?.removeEventListener('abort', onEnd);
      leaving.abort();
    }
  }

  async *#parts(items: Items<Item>): AsyncGenerator<Part, void, undefined> {
    // The characters of a text would be items.
    if (typeof items === 'string' || ArrayBuffer.isView(items)) throw new TypeError('items: a list or a stream of items, not one of them');
    let index = 0;
    let texts: string[] = [];
    let references: (string | undefined)[] = [];
    let bytes = 0;
    for await (const given of items) {
      const { text, reference } = this.#encode(given, index++);
      const length = encoder.encode(text).length + 1;
      if (texts.length > 0 && (texts.length >= mostItems || bytes + length > mostBytes)) {
        yield { items: texts, references };
        [texts, references, bytes] = [[], [], 0];
      }
      texts.push(text);
      references.push(reference);
      bytes += length;
    }
    if (texts.length > 0) yield { items: texts, references };
  }

  #encode(given: Item | Octets, index: number): { readonly text: string; readonly reference: string | undefined } {
    try {
      const item = itemOf(this.#action, given);
      return { text: JSON.stringify(this.#action.toWire(item)), reference: item.reference };
    } catch (error) {
      throw error instanceof TypeError ? new TypeError(`item ${index}: ${error.message}`, { cause: error }) : error;
    }
  }

  async #send({ items, references }: Part, options: CallOptions): Promise<BatchResult<Result>[]> {
    const octets = encoder.encode(`{"batch-input":[${items.join(',')}]}`);
    const request = { method: 'POST', path: `${this.#path}-batch`, octets, mediaType: 'application/json', isIdempotent: true };
    try {
      const { 'batch-results': results } = await this.#sender.json<{ readonly 'batch-results': readonly WireResult[] }>(request, options);
      if (results?.length !== items.length) throw new TypeError(`${results?.length} results for ${items.length} items`);
      return results.map((result, index) => this.#read(result, references[index]));
    } catch (error) {
      // One item that alone is too large is a fault of that item.
      if (items.length > 1 || !(error instanceof Problem) || error.status !== 413) throw error;
      return [{ ok: false, problem: error, ...referenced(references[0]) }];
    }
  }

  #read(result: WireResult, reference: string | undefined): BatchResult<Result> {
    const { status, code, 'error-message': message } = result;
    if (typeof code !== 'string') return { ok: true, value: this.#action.read(result), ...referenced(reference) };
    const detail = typeof message === 'string' ? message : 'Refused.';
    const problem = new Problem({ status: typeof status === 'number' ? status : 0, code, detail, document: result });
    return { ok: false, problem, ...referenced(reference) };
  }
}

const encoder = new TextEncoder();

function referenced(reference: string | undefined): { readonly reference?: string } {
  return reference === undefined ? {} : { reference };
}
