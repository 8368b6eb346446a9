// Batches: many inputs of one action in one request, whose items fail independently.
import type { z } from 'zod';
import { valuesInBatch } from '../../../core/http/audit-parameters.ts';
import { Semaphore } from '../../../core/base/async/semaphore.ts';
import { sharingDecoder } from '../../../core/base/bytes.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { toldTo } from '../../../core/http/response/telling.ts';
import { sentenceOf } from '../../../core/http/response/problem.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { formatValue, type Shape, shapeOf, Wire } from '../../../core/wire/schema.ts';
import { spellingsOf } from '../../../core/http/request/spellings.ts';
import { readerOf } from '../../../core/wire/plain-texts.ts';
import type { Transit } from '../context.ts';
import type { Key } from '../records/keyring.ts';
import { type Outcome, type Plan, type TokenUse, explained, runTogether } from './token-use.ts';
import { UsedKey } from './used-key.ts';

/** Items of a batch that are sent to the token together; other requests wait no longer than these take. */
const itemsAtOnce = 100;
/**
 * Batches that send items at the same time; tenants, and in them tokens, take turns. A few keep the token busy; more would only keep their items in memory, where copying them
 * took a third of the time of a batch, and would delay small requests.
 */
const batchesAtOnce = 6;

/** Items of a batch, and the request of each of them. */
export type BatchOf<Item, Answer> = {
  readonly item: z.ZodType<Item> & z.ZodObject;
  /** result of an item: the fields of an answer and of a refusal */
  readonly result: z.ZodType;
  /** fields of items (wire form) whose values are in the audit record */
  readonly auditFields: readonly string[];
  /** plans one item without waiting; `noteSigned` adds the digest of what was signed to the audit record */
  readonly plan: (used: UsedKey, item: Item, noteSigned: (digest: string) => void) => Plan<Answer>;
};

/** The answer, `batch-results` and `failed`, and how many items failed. */
export type BatchAnswer = { readonly answer: Wire; readonly failed: number };

type BatchRun = (call: EndpointCall, items: readonly JsonObject[], key: Key) => Promise<BatchAnswer>;

/** Runs the items of batches: a refusal concerns one item, a fault (no token, no store) ends the batch. */
export function batchRunner<Item, Answer extends object>(transit: Transit, batchOf: BatchOf<Item, Answer>): BatchRun {
  /** semaphores by cipher: a batch does not wait for signatures that are slower than its own */
  const semaphores = new Map<string, Semaphore>();
  const semaphoreFor = ({ record: { cipher } }: Key): Semaphore => {
    const known = semaphores.get(cipher) ?? new Semaphore(batchesAtOnce);
    semaphores.set(cipher, known);
    return known;
  };
  const { payloads } = spellingsOf([batchOf.item]);
  const steps = { read: readerOf(batchOf.item), plan: batchOf.plan };
  return async (call, items, key) => {
    const { tenantId: tenant, origin } = call.caller;
    const batch = new Batch(transit, key, items, { call, shape: shapeOf(batchOf.result) });
    for (let at = 0; at < items.length; at += itemsAtOnce) {
      const end = Math.min(at + itemsAtOnce, items.length);
      await semaphoreFor(key).run(() => batch.run(steps, at, end), { tenant, origin });
    }
    const { results, digests, failed } = batch;
    const signed = digests.some((digest) => digest !== null) ? { signedDigest: digests } : {};
    // Only values of valid items are recorded: those of others may be a secret in the wrong field.
    const done = items.filter((_, index) => !Object.hasOwn(results[index] as object, 'code'));
    call.noteAudit({
      requestParameters: { items: items.length, failed, ...valuesInBatch(done, batchOf.auditFields, payloads) },
      ...signed,
    });
    return { answer: new Wire({ 'batch-results': results, failed }), failed };
  };
}

type Steps<Item, Answer> = Pick<BatchOf<Item, Answer>, 'plan'> & { readonly read: (item: JsonObject) => Item };

/** Batch: its items, and their results so far. */
class Batch {
  readonly #transit: Transit;
  readonly #key: Key;
  readonly #items: readonly JsonObject[];
  readonly #shape: Shape;
  readonly #call: EndpointCall;
  /** results in wire form, each made once */
  readonly results: unknown[] = [];
  readonly digests: (string | null)[];
  failed = 0;
  #fault: { readonly error: unknown } | undefined;

  constructor(
    transit: Transit,
    key: Key,
    items: readonly JsonObject[],
    { call, shape }: { readonly call: EndpointCall; readonly shape: Shape },
  ) {
    this.#call = call;
    this.#transit = transit;
    this.#key = key;
    this.#items = items;
    this.#shape = shape;
    this.digests = Array.from(items, () => null);
  }

  /** Runs the items from `start` to before `end` together. Rejects with the first fault, when all of them have ended. */
  async run<Item, Answer extends object>({ read, plan }: Steps<Item, Answer>, start: number, end: number): Promise<void> {
    const used = new UsedKey(this.#transit, this.#key, this.#call, sharingDecoder());
    const uses: TokenUse<Answer>[] = [];
    const places: number[] = [];
    const waits: Promise<void>[] = [];
    for (let at = start; at < end; at++) {
      try {
        const planned = plan(used, read(this.#items[at] as JsonObject), (digest) => (this.digests[at] = digest));
        if ('steps' in planned) waits.push(this.#follow(at, planned.steps));
        else {
          uses.push(planned);
          places.push(at);
        }
      } catch (error) {
        this.#refuse(at, error);
      }
    }
    if (uses.length > 0) {
      const outcomes = await runTogether(used, uses);
      for (let index = 0; index < outcomes.length; index++) {
        const [at, outcome] = [places[index] as number, outcomes[index] as Outcome<Answer>];
        if ('answer' in outcome) this.#write(at, outcome.answer);
        else this.#refuse(at, outcome.error);
      }
    }
    await Promise.all(waits);
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  /** Follows the steps of an item. Never rejects, so that no item of a batch that has ended is left behind. */
  async #follow(at: number, steps: Promise<object>): Promise<void> {
    try {
      this.#write(at, await steps);
    } catch (error) {
      this.#refuse(at, error);
    }
  }

  #refuse(at: number, thrown: unknown): void {
    const error = explained(this.#transit, this.#key, thrown);
    if (!(error instanceof ServiceError) || error.status >= 500) {
      this.#fault ??= { error };
      return;
    }
    this.failed += 1;
    this.#write(at, { status: error.status, code: error.code, errorMessage: sentenceOf(toldTo(this.#call.access, error)) });
  }

  #write(at: number, result: object): void {
    const reference = this.#items[at]?.['reference'];
    this.results[at] = formatValue(this.#shape, typeof reference === 'string' ? { ...result, reference } : result);
  }
}
