// Open connections of a listener, by address: limits their number, and chooses the one that is closed for a new one.
import type { Socket } from 'node:net';
import { subscriberOf } from '../../base/addresses.ts';

/**
 * Stage of a connection. Before the end of its handshake: without a complete ClientHello (`silent`), waiting `in-line` for the answer to it,
 * or `answered`, so that the peer must send next. Then `idle`, or with a `request` under way.
 */
export type Stage = 'silent' | 'in-line' | 'answered' | 'idle' | 'request';

/** States of connections in metrics and alerts. */
export type State = 'handshake' | 'idle' | 'request';

/** Reason for which the service closed a connection. */
export type Closure = 'crowded' | 'handshake-timeout' | 'unread';

export type Connection = {
  readonly socket: Socket;
  /** socket of the requests, after the handshake */
  secured: Socket | undefined;
  readonly stage: Stage;
  /** begin of this stage, monotonic */
  readonly sinceMs: number;
  /** tells whether running requests wait for the peer: it must send a body, or read an answer */
  owes: () => boolean;
};

/** Limits of the connections of a listener, and of those before the end of their handshake. */
export type ConnectionLimits = { readonly open: number; readonly handshakes: number };

type Kept = Connection & { stage: Stage; sinceMs: number; readonly group: Group };
/** The connections of one subscriber in the order in which their stages began. */
type Group = {
  readonly subscriber: string;
  readonly address: string;
  readonly connections: Set<Kept>;
  readonly counts: Record<State, number>;
};

const stateOf: Readonly<Record<Stage, State>> = {
  silent: 'handshake',
  'in-line': 'handshake',
  answered: 'handshake',
  idle: 'idle',
  request: 'request',
};

/**
 * Connections with a limit. Above it, a connection of the address with the most is closed, so that one address with any
 * number of connections takes no place from another with fewer: first a silent one, then one whose peer does not continue its
 * handshake, then an idle one, then one whose peer keeps a request waiting; of each kind the oldest. A running request is cut only
 * for an address that has fewer connections.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #groups = new Map<string, Group>();
  readonly #counts = noneOpen();
  readonly #closed: Record<Closure, number> = { crowded: 0, 'handshake-timeout': 0, unread: 0 };
  readonly #onCrowded: (address: string) => void;

  /** `onCrowded` receives the address of each connection closed for another. */
  constructor(limits: ConnectionLimits, onCrowded: (address: string) => void = () => undefined) {
    this.#limits = limits;
    this.#onCrowded = onCrowded;
  }

  get limits(): ConnectionLimits {
    return this.#limits;
  }

  get counts(): Readonly<Record<State, number>> {
    return this.#counts;
  }

  /** Numbers of connections closed by the service since the listener was opened. */
  get closed(): Readonly<Record<Closure, number>> {
    return this.#closed;
  }

  /** Connections in one of these stages. */
  *ofStage(...stages: readonly Stage[]): Iterable<Connection> {
    for (const { connections } of this.#groups.values()) {
      for (const connection of connections) if (stages.includes(connection.stage)) yield connection;
    }
  }

  /** Adds a connection from an address; another one may be closed for it. Undefined if it gets no place. It is removed when its socket closes. */
  add(socket: Socket, address: string): Connection | undefined {
    const subscriber = subscriberOf(address);
    if (!this.#makeRoom(subscriber)) {
      this.#closed.crowded++;
      this.#onCrowded(address);
      return undefined;
    }
    const group = this.#groups.get(subscriber) ?? { subscriber, address, connections: new Set(), counts: noneOpen() };
    this.#groups.set(subscriber, group);
    const connection: Kept = { socket, secured: undefined, stage: 'silent', sinceMs: performance.now(), group, owes: () => false };
    group.connections.add(connection);
    this.#count(connection, 1);
    socket.once('close', () => this.#leave(connection));
    return connection;
  }

  /** Moves a connection to another stage, which begins now. */
  move(moved: Connection, stage: Stage): void {
    const connection = moved as Kept;
    const { group } = connection;
    if (!group.connections.delete(connection)) return;
    this.#count(connection, -1);
    connection.stage = stage;
    connection.sinceMs = performance.now();
    this.#count(connection, 1);
    group.connections.add(connection);
  }

  /** Closes a connection; its place is free at once. */
  close(closed: Connection, reason: Closure): void {
    const connection = closed as Kept;
    if (!this.#leave(connection)) return;
    this.#closed[reason]++;
    (connection.secured ?? connection.socket).destroy();
  }

  #leave(connection: Kept): boolean {
    const { group } = connection;
    if (!group.connections.delete(connection)) return false;
    this.#count(connection, -1);
    if (group.connections.size === 0) this.#groups.delete(group.subscriber);
    return true;
  }

  #count({ stage, group }: Kept, change: 1 | -1): void {
    const state = stateOf[stage];
    this.#counts[state] += change;
    group.counts[state] += change;
  }

  #makeRoom(subscriber: string): boolean {
    const { handshake, idle, request } = this.#counts;
    const goes =
      handshake + idle + request >= this.#limits.open
        ? this.#goesForAny(subscriber)
        : handshake >= this.#limits.handshakes
          ? this.#goesForHandshake()
          : 'nobody';
    if (goes === undefined || goes === 'nobody') return goes !== undefined;
    this.#onCrowded(goes.group.address);
    this.close(goes, 'crowded');
    return true;
  }

  #goesForHandshake(): Kept | undefined {
    const largest = this.#largest(({ counts }) => counts.handshake);
    return largest && goesFirst(largest, isHandshake);
  }

  #goesForAny(comer: string): Kept | undefined {
    const sizeOf = ({ connections }: Group): number => connections.size;
    const largest = this.#largest(sizeOf);
    // An address with only running requests does not protect the next largest one.
    const withOthers = this.#largest((group) => (group.counts.handshake + group.counts.idle > 0 ? sizeOf(group) : 0));
    const goes = (largest && goesFirst(largest)) ?? (withOthers && goesFirst(withOthers));
    if (goes !== undefined || largest === undefined) return goes;
    const own = this.#groups.get(comer);
    return sizeOf(largest) > (own === undefined ? 0 : sizeOf(own)) + 1 ? largest.connections.values().next().value : undefined;
  }

  /** Largest subscriber by `sizeOf`; undefined without any. */
  #largest(sizeOf: (group: Group) => number): Group | undefined {
    let [largest, most]: [Group | undefined, number] = [undefined, 0];
    for (const group of this.#groups.values()) {
      const size = sizeOf(group);
      if (size > most) [largest, most] = [group, size];
    }
    return largest;
  }
}

function noneOpen(): Record<State, number> {
  return { handshake: 0, idle: 0, request: 0 };
}

function isHandshake({ stage }: Connection): boolean {
  return stateOf[stage] === 'handshake';
}

/** Time after which a peer that owes the next message of the handshake counts as stalled. */
const slowMs = 2_000;

/** Order in which connections of one subscriber are closed. */
const order = ['slow silent', 'slow answered', 'idle', 'owing', 'silent', 'answered', 'in-line'] as const;
type Kind = (typeof order)[number] | 'request';

/** The oldest connection of the first kind that exists; never one with a running request. */
function goesFirst({ connections }: Group, meant: (connection: Kept) => boolean = () => true): Kept | undefined {
  const nowMs = performance.now();
  const oldest = new Map<Kind, Kept>();
  for (const connection of connections) {
    if (!meant(connection)) continue;
    const kind = kindOf(connection, nowMs, oldest.has('owing'));
    if (kind === order[0]) return connection;
    if (!oldest.has(kind)) oldest.set(kind, connection);
  }
  return order.map((kind) => oldest.get(kind)).find((connection) => connection !== undefined);
}

function kindOf({ stage, sinceMs, owes }: Kept, nowMs: number, isOwingKnown: boolean): Kind {
  if (stage === 'request') return !isOwingKnown && owes() ? 'owing' : stage;
  const isSlow = (stage === 'silent' || stage === 'answered') && nowMs - sinceMs > slowMs;
  return isSlow ? `slow ${stage}` : stage;
}
