// The way of a serving process to the follower of its appliance: it commits through it and knows until when it may answer.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { batchLimits } from '../../core/cluster/transaction.ts';
import { isValid, type Moment } from '../../core/cluster/validity.ts';
import { clusterUnavailable } from '../../core/cluster/unavailable.ts';
import type { Intent, SharedStore } from '../../core/store/intent.ts';
import { type Channel, openChannel, Unanswered } from '../processes/channel.ts';
import { followerRequests, linkRequests } from './messages.ts';
import { socketPort } from './socket-port.ts';

export type LinkParts = {
  /** id of this appliance in the cluster */
  readonly appliance: string;
  /** path of the follower's socket */
  readonly socket: string;
  readonly moment: () => Moment;
  readonly report: (line: string) => void;
};

type Connection = { readonly socket: Socket; readonly channel: Channel<typeof followerRequests> };

/** A follower that has ended is back in less. */
const patienceMs = 12_000;
const reconnectMs = 50;

export class FollowerLink implements SharedStore {
  readonly batch = batchLimits;
  readonly appliance: string;
  readonly #parts: LinkParts;
  readonly #stopping = new AbortController();
  #connection: Promise<Connection>;
  #sent: Moment | undefined;
  #position = 0;

  /** Connects, and again whenever the follower has ended. */
  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.appliance = parts.appliance;
    this.#connection = this.#connect();
  }

  /** Whether this appliance may answer at this moment. Asked at the begin of a request, and just before its answer. */
  get isValid(): boolean {
    return isValid(this.#sent, this.#parts.moment());
  }

  get position(): number {
    return this.#position;
  }

  /**
   * A follower that ends before it has answered leaves it open whether the change was committed. Its successor is asked under the same
   * name, and knows.
   */
  async commit(intent: Intent): Promise<'committed' | 'lost'> {
    const name = randomUUID();
    const late = AbortSignal.any([AbortSignal.timeout(patienceMs), this.#stopping.signal]);
    for (;;) {
      const connection = await Promise.race([this.#connection, once(late, 'abort').then(() => undefined)]);
      if (connection === undefined) throw clusterUnavailable('unknown');
      try {
        const answer = await connection.channel.request('commit', { name, intent }, patienceMs);
        if ('outcome' in answer) return answer.outcome;
        throw clusterUnavailable(answer.unavailable);
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    const connection = await Promise.race([this.#connection, setTimeout(0)]);
    connection?.socket.destroy();
  }

  async #connect(): Promise<Connection> {
    for (;;) {
      this.#stopping.signal.throwIfAborted();
      const socket = createConnection(this.#parts.socket);
      try {
        await once(socket, 'connect');
        return { socket, channel: this.#open(socket) };
      } catch {
        await setTimeout(reconnectMs, undefined, { ref: false });
      }
    }
  }

  #open(socket: Socket): Channel<typeof followerRequests> {
    socket.once('close', () => {
      if (this.#stopping.signal.aborted) return;
      this.#connection = this.#connect();
      this.#connection.catch(() => undefined);
    });
    return openChannel({
      ...{ port: socketPort(socket), asks: followerRequests, serves: linkRequests, report: this.#parts.report },
      handlers: {
        state: ({ position, sent }) => {
          this.#position = Math.max(this.#position, position);
          // One that was given stays: the others wait until it is over, also when the follower has ended.
          if (sent !== undefined && sent.monotonicMs > (this.#sent?.monotonicMs ?? 0)) this.#sent = sent;
        },
      },
    });
  }
}
