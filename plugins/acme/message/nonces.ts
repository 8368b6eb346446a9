// Nonces against replay (RFC 8555 section 6.5): they prove by themselves that this service has made them, so that none is stored before its use and
// every appliance of a cluster takes those of the others.
import { createHmac } from 'node:crypto';
import { DrawnAhead } from '../../../core/base/async/drawn-ahead.ts';
import { equalConstantTime } from '../../../core/base/bytes.ts';
import type { Clock } from '../../../core/base/context.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import { getIfOpen, getOrDrop, type Store } from '../../../core/store/store.ts';
import { failAcme } from '../errors.ts';
import type { AcmeTables } from '../records/records.ts';

const layout = { timeOctets: 6, randomOctets: 12, macOctets: 14 } as const;
const { timeOctets, randomOctets, macOctets } = layout;
const length = timeOctets + randomOctets + macOctets;

/** Life of a nonce. Clients keep one through a hook of a person or a slow name server. */
const lifeMs = 3_600_000;
/** by which clocks of a cluster may differ */
const skewMs = 120_000;
const minuteMs = 60_000;

type Parts = {
  readonly store: Store;
  readonly tables: Pick<AcmeTables, 'nonces' | 'nonceKeys'>;
  readonly clock: Clock;
  random(octets: number): Promise<Uint8Array>;
};

export class Nonces {
  readonly #parts: Parts;
  readonly #drawn: DrawnAhead;
  #key: Uint8Array | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#drawn = new DrawnAhead((octets) => parts.random(octets), randomOctets);
  }

  /** Makes one. Rejects with HsmError. */
  async make(): Promise<string> {
    const head = Buffer.alloc(timeOctets + randomOctets);
    head.writeUIntBE(this.#nowMs(), 0, timeOctets);
    head.set(await this.#drawn.next(), timeOctets);
    return Buffer.concat([head, macOf(await this.#requireKey(), head)]).toString('base64url');
  }

  /** Requires that a nonce is one of this service, and in time. Throws `acme-bad-nonce`. Returns how it is used up. */
  async require(text: string | undefined): Promise<() => Promise<void>> {
    if (text === undefined) throw failAcme('acme-bad-nonce', 'The protected header has no "nonce".');
    const octets = Buffer.from(text, 'base64url');
    const head = octets.subarray(0, timeOctets + randomOctets);
    const isOurs =
      octets.length === length &&
      octets.toString('base64url') === text &&
      equalConstantTime(octets.subarray(head.length), macOf(await this.#requireKey(), head));
    if (!isOurs) throw failAcme('acme-bad-nonce', 'The nonce is not one that this service has made.');
    const madeMs = head.readUIntBE(0, timeOctets);
    const age = this.#nowMs() - madeMs;
    if (age > lifeMs || age < -skewMs) throw failAcme('acme-bad-nonce', 'The nonce is too old.');
    return () => this.#useUp(Math.floor(madeMs / minuteMs), text);
  }

  /** Uses one up, once. Throws `acme-bad-nonce`. */
  async #useUp(minute: number, text: string): Promise<void> {
    const { store, tables } = this.#parts;
    const isFirst = await store.write((transaction) => {
      if (transaction.has(tables.nonces, [minute, text])) return false;
      transaction.put(tables.nonces, [minute, text], true);
      return true;
    });
    if (!isFirst) throw failAcme('acme-bad-nonce', 'The nonce was used already.');
  }

  /** Drops those that are too old to be sent again. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { store, tables } = this.#parts;
    store.refresh();
    const oldest = Math.floor((this.#nowMs() - lifeMs - skewMs) / minuteMs);
    // In the order of their minutes.
    const over = Array.from(Iterator.from(tables.nonces.keys([])).filter(([minute]) => Number(minute) < oldest));
    await writeInPieces(store, over, (transaction, key) => void transaction.delete(tables.nonces, key), signal);
  }

  /** The key, the same for every process and appliance, made at the first use. */
  async #requireKey(): Promise<Uint8Array> {
    if (this.#key !== undefined) return this.#key;
    const { store, tables } = this.#parts;
    const present = getIfOpen(tables.nonceKeys, ['key']);
    if (present !== undefined) return (this.#key = present);
    const drawn = Uint8Array.from(await this.#parts.random(32));
    return (this.#key = await store.write((transaction) => {
      const meanwhile = getOrDrop(transaction, tables.nonceKeys, ['key']);
      if (meanwhile === undefined) transaction.put(tables.nonceKeys, ['key'], drawn);
      return meanwhile ?? drawn;
    }));
  }

  #nowMs(): number {
    return this.#parts.clock.now().epochMilliseconds;
  }
}

function macOf(key: Uint8Array, head: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(head).digest().subarray(0, macOctets);
}
