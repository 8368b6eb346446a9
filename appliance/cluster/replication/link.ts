// The way of a serving process to the follower of its appliance: it commits through it and knows until when it may answer.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { RemovalOutcome } from '../../../core/cluster/entry.ts';
import { batchLimits } from '../../../core/cluster/transaction.ts';
import { isValid, type Moment } from '../../../core/cluster/validity.ts';
import { clusterUnavailable } from '../../../core/base/unavailable.ts';
import type { Intent } from '../../../core/store/intent.ts';
import { type Channel, openChannel, Unanswered } from '../../processes/channel.ts';
import type { ClusterState, ClusterWay, ForeignReport, ServerState } from '../cluster-way.ts';
import { followerRequests, linkRequests } from './messages.ts';
import { socketPort } from './socket-port.ts';

export type LinkParts = {
  /** id of this appliance in the cluster */
  readonly appliance: string;
  /** limit for uses of keys after the validity has ended; 0: they end with it */
  readonly isolatedSeconds?: number;
  /** number of this process, which no other one of this appliance has at the same time */
  readonly caller: number;
  /** path of the follower's socket */
  readonly socket: string;
  readonly moment: () => Moment;
  readonly report: (line: string) => void;
};

type FollowerChannel = Channel<typeof followerRequests>;
type Connection = { readonly socket: Socket; readonly channel: FollowerChannel };

/** A follower that has ended is back in less. */
const patienceMs = 12_000;
const reconnectMs = 50;
/** Limit for making a shared store, enough for a million records. */
const bootstrapMs = 600_000;
/** A member in the way is watched for almost two seconds, etcd may be in an election. */
const enteringMs = 30_000;
const enterAgainMs = 1_000;
/** Limit for one that sends heartbeats: until it can no longer answer. */
const removingMs = 20_000;
const stateMs = 1_000;
const serversMs = 5_000;
const lookEveryMs = 20;

export class FollowerLink implements ClusterWay {
  readonly batch = batchLimits;
  readonly appliance: string;
  readonly isolatedSeconds: number;
  readonly #parts: LinkParts;
  readonly #stopping = new AbortController();
  #connection: Promise<Connection>;
  #sent: Moment | undefined;
  #position = 0;
  #settled = 0;
  #settling: { readonly revision: number; readonly done: Promise<void> } | undefined;
  #missing: readonly string[] = [];
  #members: readonly string[] = [];
  #othersStartMs: number | undefined;
  /** reason for which this appliance is no longer a member */
  #over: string | undefined;
  #recordForeign: ((report: ForeignReport) => Promise<void>) | undefined;
  /** it was let in once: a successor of the follower is to come in again */
  #hasEntered = false;

  /** Connects, and again whenever the follower has ended. */
  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.appliance = parts.appliance;
    this.isolatedSeconds = parts.isolatedSeconds ?? 0;
    this.#connection = this.#connect();
  }

  /** True if this appliance may answer at this moment. Read at the start of a request, and just before its answer. */
  get isValid(): boolean {
    return isValid(this.#sent, this.#parts.moment());
  }

  /** True if keys may be used at this moment from the last state, although nothing else is answered. */
  get isIsolated(): boolean {
    if (this.#over !== undefined || this.isolatedSeconds === 0 || this.isValid) return false;
    return isValid(this.#sent, this.#parts.moment(), this.isolatedSeconds * 1_000);
  }

  get position(): number {
    return this.#position;
  }

  get settled(): number {
    return this.#settled;
  }

  /** Names of the members that are not in, as last heard. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  get members(): readonly string[] {
    return this.#members;
  }

  get over(): string | undefined {
    return this.#over;
  }

  get othersMs(): number | undefined {
    return this.#othersStartMs === undefined ? undefined : this.#othersStartMs + this.#parts.moment().monotonicMs;
  }

  /** Reads the keys of the shared store; undefined while there are no keys. Rejects with `cluster-unavailable`. */
  async wrappedKeys(): Promise<Uint8Array | undefined> {
    return orThrow(await this.#ask((channel) => channel.request('wrappedKeys', undefined, patienceMs), patienceMs)).octets;
  }

  async replaceWrappedKeys(from: Uint8Array, to: Uint8Array): Promise<boolean> {
    return orThrow(await this.#ask((channel) => channel.request('replaceWrappedKeys', { from, to }, patienceMs), patienceMs));
  }

  /** Makes the shared store of the store of this appliance. Throws an Error with the reason when it cannot be made. */
  async bootstrap(octets: Uint8Array): Promise<void> {
    refuse(await this.#ask((channel) => channel.request('bootstrap', { octets }, bootstrapMs), bootstrapMs));
  }

  /** Lets this appliance be a member, from now on. Throws an Error with the reason when it cannot be one. */
  async enter(): Promise<void> {
    refuse(await this.#ask((channel) => channel.request('enter', undefined, enteringMs), enteringMs));
    this.#hasEntered = true;
  }

  /** State of the members, as the follower knows it. Rejects with Unanswered while it is being started again. */
  async state(): Promise<ClusterState> {
    const connection = await Promise.race([this.#connection, setTimeout(stateMs)]);
    if (connection === undefined) throw new Unanswered('is being started again');
    return connection.channel.request('state', undefined, stateMs);
  }

  async servers({ alone = false } = {}): Promise<readonly ServerState[]> {
    return orThrow(await this.#ask((channel) => channel.request('servers', { alone }, serversMs), serversMs));
  }

  /** Resolves when this appliance may answer; false: it may not within that time. */
  async untilValid(withinMs: number): Promise<boolean> {
    for (const deadline = performance.now() + withinMs; !this.isValid; await setTimeout(lookEveryMs))
      if (performance.now() > deadline) return false;
    return true;
  }

  /**
   * A follower that ends before it has answered leaves it open whether the change was committed. Its successor is asked under the same
   * name, and knows.
   */
  async commit(intent: Intent): Promise<'committed' | 'lost'> {
    const name = randomUUID();
    const { caller } = this.#parts;
    return orThrow(await this.#ask((channel) => channel.request('commit', { caller, name, intent }, patienceMs), patienceMs));
  }

  /** One question for all answers that wait. */
  untilSettled(revision: number): Promise<void> {
    if (this.#settling === undefined || this.#settling.revision < revision) {
      const settling = { revision, done: this.#settle(revision) };
      this.#settling = settling;
      const end = (): void => {
        if (this.#settling === settling) this.#settling = undefined;
      };
      settling.done.then(end, end);
    }
    return this.#settling.done;
  }

  async #settle(revision: number): Promise<void> {
    orThrow(await this.#ask((channel) => channel.request('untilSettled', { revision }, patienceMs), patienceMs));
    this.#settled = Math.max(this.#settled, revision);
  }

  async remove(id: string, evenIfAlive: boolean): Promise<RemovalOutcome> {
    return orThrow(await this.#ask((channel) => channel.request('remove', { id, evenIfAlive }, removingMs), removingMs));
  }

  onForeignWrites(record: (report: ForeignReport) => Promise<void>): void {
    this.#recordForeign = record;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    const connection = await Promise.race([this.#connection.catch(() => undefined), setTimeout(0)]);
    connection?.socket.destroy();
  }

  /** Asks until there is an answer, also of a successor. Throws `cluster-unavailable` if none comes in time. */
  async #ask<T>(ask: (channel: FollowerChannel) => Promise<T>, withinMs: number): Promise<T> {
    const late = AbortSignal.any([AbortSignal.timeout(withinMs), this.#stopping.signal]);
    const isLate = Promise.withResolvers<undefined>();
    late.addEventListener('abort', () => isLate.resolve(undefined), { once: true });
    for (;;) {
      const connection = await Promise.race([this.#connection, isLate.promise]);
      if (connection === undefined || late.aborted) throw clusterUnavailable('unknown');
      try {
        return await ask(connection.channel);
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        // The connection of a follower that has ended closes in a later turn of the event loop: to ask at once would never let it.
        await setTimeout(reconnectMs);
      }
    }
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

  #open(socket: Socket): FollowerChannel {
    socket.once('close', () => {
      if (this.#stopping.signal.aborted) return;
      this.#connection = this.#connect();
      this.#connection.catch(() => undefined);
    });
    const channel = openChannel({
      ...{ port: socketPort(socket), asks: followerRequests, serves: linkRequests, report: this.#parts.report },
      handlers: {
        over: ({ reason }) => void (this.#over = reason),
        foreignWrites: async (report) => {
          await this.#recordForeign?.(report);
          return this.#recordForeign !== undefined;
        },
        state: ({ position, settled, sent, missing, members, othersStartMs }) => {
          this.#position = Math.max(this.#position, position);
          this.#settled = Math.max(this.#settled, settled);
          [this.#missing, this.#members] = [missing, members];
          this.#othersStartMs = othersStartMs;
          // One that was given stays: the others wait until it is over, also when the follower has ended.
          if (sent === undefined || sent.monotonicMs <= (this.#sent?.monotonicMs ?? 0)) return;
          this.#sent = sent;
          this.#over = undefined;
        },
      },
    });
    if (this.#hasEntered) void this.#enterAgain(socket, channel);
    return channel;
  }

  async #enterAgain(socket: Socket, channel: FollowerChannel): Promise<void> {
    while (!socket.destroyed && !this.#stopping.signal.aborted) {
      const { refused } = await channel.request('enter', undefined, enteringMs).catch((error: Error) => ({ refused: error.message }));
      if (refused === undefined) return;
      this.#parts.report(`this appliance cannot come into its cluster again: ${refused}`);
      await setTimeout(enterAgainMs, undefined, { ref: false });
    }
  }
}

function orThrow<T>(answer: { readonly outcome: T } | { readonly unavailable: string }): T {
  if ('outcome' in answer) return answer.outcome;
  throw clusterUnavailable(answer.unavailable);
}

function refuse({ refused }: { readonly refused?: string | undefined }): void {
  if (refused !== undefined) throw new Error(refused);
}
