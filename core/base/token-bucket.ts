// Token buckets in memory: an action is allowed while there are tokens, and tokens come back evenly over time.
import { createHash, randomBytes } from 'node:crypto';
import { subscriberOf } from './addresses.ts';

export class TokenBucket {
  readonly #capacity: number;
  readonly #perMinute: number;
  #tokens: number;
  #filledAtMs: number;

  /** Starts full. `nowMs` is monotonic time here and below. */
  constructor(capacity: number, perMinute: number, nowMs: number) {
    this.#capacity = capacity;
    this.#perMinute = perMinute;
    this.#tokens = capacity;
    this.#filledAtMs = nowMs;
  }

  /** Takes a token; returns 0, or the seconds until one is available. */
  take(nowMs: number): number {
    this.#tokens = Math.min(this.#capacity, this.#tokens + ((nowMs - this.#filledAtMs) / 60_000) * this.#perMinute);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return ((1 - this.#tokens) / this.#perMinute) * 60;
    this.#tokens -= 1;
    return 0;
  }
}

/** Limit of remembered buckets; the least recently allowed one is forgotten first. */
const maxRemembered = 10_000;

/** Token buckets by the name of the caller of an expensive action, exact enough to stop floods. */
export class Buckets {
  readonly #capacity: number;
  readonly #perMinute: number;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(capacity: number, perMinute: number) {
    this.#capacity = capacity;
    this.#perMinute = perMinute;
  }

  /** Takes a token; returns 0, or the seconds until one is available. `nowMs` is monotonic. */
  take(key: string, nowMs: number): number {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#capacity, this.#perMinute, nowMs);
    const waitSeconds = bucket.take(nowMs);
    if (waitSeconds > 0) return waitSeconds;
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxRemembered && oldest !== undefined) this.#buckets.delete(oldest);
    return 0;
  }
}

/** Token buckets by address. */
export class AddressBuckets {
  readonly #buckets: Buckets;

  constructor(capacity: number, perMinute: number) {
    this.#buckets = new Buckets(capacity, perMinute);
  }

  /**
   * Takes a token of the address, and of `what` if each address has buckets for several actions; returns 0, or the seconds until one is
   * available. `nowMs` is monotonic.
   */
  take(clientIp: string, nowMs: number, what = ''): number {
    return this.#buckets.take(`${subscriberOf(clientIp)} ${what}`, nowMs);
  }
}

export type Rate = { readonly atOnce: number; readonly perMinute: number };

/** Parts of a reserve: a flood from so many subscribers and more empties all of them. */
const reserveParts = 256;

/** Limit of an expensive action, for all callers together and for each address. */
export class Allowance {
  readonly #ofAll: TokenBucket;
  readonly #ofAddress: AddressBuckets;
  readonly #reserve: Buckets | undefined;
  /** nobody outside knows who shares a part of the reserve with whom */
  readonly #seed = randomBytes(16);

  /** `reserve`: for those who find the common bucket empty, in 256 parts of this rate; without it they wait. */
  constructor(rates: { readonly ofAll: Rate; readonly ofAddress: Rate; readonly reserve?: Rate }, nowMs: number) {
    const { ofAll, ofAddress, reserve } = rates;
    this.#ofAll = new TokenBucket(ofAll.atOnce, ofAll.perMinute, nowMs);
    this.#ofAddress = new AddressBuckets(ofAddress.atOnce, ofAddress.perMinute);
    this.#reserve = reserve && new Buckets(reserve.atOnce, reserve.perMinute);
  }

  /** As `TokenBucket.take`. The bucket of the address comes first: an address without tokens takes none from the common bucket. */
  take(clientIp: string, nowMs: number): number {
    return this.#ofAddress.take(clientIp, nowMs) || this.#takeOfAll(clientIp, nowMs);
  }

  #takeOfAll(clientIp: string, nowMs: number): number {
    const waitSeconds = this.#ofAll.take(nowMs);
    if (waitSeconds === 0 || this.#reserve === undefined) return waitSeconds;
    const [part = 0] = createHash('sha256').update(this.#seed).update(subscriberOf(clientIp)).digest();
    return this.#reserve.take(String(part % reserveParts), nowMs);
  }
}
