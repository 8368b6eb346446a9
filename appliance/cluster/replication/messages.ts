// Every request between the supervisor and the follower, and between the follower and the processes that serve.
import { z } from 'zod';
import type { Intent } from '../../../core/store/intent.ts';
import type { Handlers, RequestTable } from '../../processes/channel.ts';

const nothing = z.void();
const octets = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

/** Octets of keys are Buffers inside; msgpack gives plain arrays of octets. */
const key = z.codec(octets, z.instanceof(Buffer), {
  decode: (plain) => Buffer.from(plain.buffer, plain.byteOffset, plain.length),
  encode: (buffer) => buffer,
});

const wireIntent = z.object({
  epoch: z.string(),
  revision: z.int(),
  level: z.int(),
  read: z.array(z.tuple([z.string(), z.int()])),
  searched: z.array(z.object({ low: key, high: key })),
  /** null: deleted */
  written: z.array(z.tuple([z.string(), octets.nullable()])),
});

const intent = z.codec(
  wireIntent,
  z.custom<Intent>((value) => typeof value === 'object'),
  {
    decode: ({ read, written, ...others }) => ({
      ...others,
      read: new Map(read),
      written: new Map(written.map(([text, sealed]) => [text, sealed ?? undefined])),
    }),
    encode: ({ read, written, searched, ...others }) => ({
      ...others,
      searched: [...searched],
      read: [...read],
      written: [...written].map(([text, sealed]): [string, Uint8Array | null] => [text, sealed ?? null]),
    }),
  },
);

/** Moment of core/cluster/validity.ts. */
const moment = z.object({ monotonicMs: z.number(), wallMs: z.number() });

/** SeenAppliance and ClusterState of cluster-way.ts. */
const member = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  levels: z.object({ oldest: z.int(), newest: z.int() }),
  state: z.enum(['in', 'expelled', 'out', 'removing', 'removed']),
  publicUrl: z.string().optional(),
  applied: z.int(),
  silentMs: z.number(),
});
const clusterState = z.object({
  id: z.string(),
  epoch: z.string().optional(),
  level: z.int().optional(),
  position: z.int(),
  isValid: z.boolean(),
  members: z.array(member).readonly(),
});

const server = z.object({
  appliance: z.string(),
  url: z.string(),
  isLearner: z.boolean(),
  isLeader: z.boolean(),
  version: z.string().optional(),
  bytes: z.number().optional(),
  problem: z.string().optional(),
});

/** Reason for a failure, in one sentence; absent after a success. */
const outcome = z.object({ refused: z.string().optional() });

/** Asked of the follower by the processes that serve, over its socket. */
export const followerRequests = {
  /** Reads the keys of the shared store (keys/cluster-keys.ts); absent while there are no keys. */
  wrappedKeys: {
    argument: nothing,
    answer: z.union([z.object({ outcome: z.object({ octets: octets.optional() }) }), z.object({ unavailable: z.string() })]),
  },
  /** Replaces them by another wrapping; false if they are no longer `from`. */
  replaceWrappedKeys: {
    argument: z.object({ from: octets, to: octets }),
    answer: z.union([z.object({ outcome: z.boolean() }), z.object({ unavailable: z.string() })]),
  },
  /** Makes the shared store of the store of this appliance. */
  bootstrap: { argument: z.object({ octets }), answer: outcome },
  /** This appliance can open the keys and serves: it comes in among the members. */
  enter: { argument: nothing, answer: outcome },
  /** `caller`, `name`: as Committer.commit. `unavailable`: reason for which it is not known to be committed, for the caller. */
  commit: {
    argument: z.object({ caller: z.int(), name: z.string(), intent }),
    answer: z.union([z.object({ outcome: z.enum(['committed', 'lost']) }), z.object({ unavailable: z.string() })]),
  },
  /** Answered when every appliance that may answer has a revision that is here. */
  untilSettled: {
    argument: z.object({ revision: z.int() }),
    answer: z.union([z.object({ outcome: z.literal(true) }), z.object({ unavailable: z.string() })]),
  },
  /** As RemovalOutcome of core/cluster/entry.ts. */
  remove: {
    argument: z.object({ id: z.string(), evenIfAlive: z.boolean() }),
    answer: z.union([z.object({ outcome: z.enum(['removed', 'unknown', 'alive']) }), z.object({ unavailable: z.string() })]),
  },
  state: { argument: nothing, answer: clusterState },
  /**
   * ServerState of cluster-way.ts; none of an etcd that somebody else runs. `alone`: which ones this appliance reaches by itself, without
   * asking the majority who they are.
   */
  servers: {
    argument: z.object({ alone: z.boolean() }),
    answer: z.union([z.object({ outcome: z.array(server) }), z.object({ unavailable: z.string() })]),
  },
} as const satisfies RequestTable;

/** Asked of them by the follower. */
export const linkRequests = {
  /**
   * Something was applied, or a heartbeat was committed. `settled`: revision up to which every appliance that may answer has everything.
   * `sent`: start of the validity. `missing`: names of the members that are not in. `members`: ids of those that were not removed.
   * `othersStartMs`: time by the clocks of most others when CLOCK_MONOTONIC is 0.
   */
  state: {
    argument: z.object({
      ...{ position: z.int(), settled: z.int(), missing: z.array(z.string()), members: z.array(z.string()) },
      ...{ sent: moment.optional(), othersStartMs: z.number().optional() },
    }),
    answer: nothing,
  },
  /** Tells that this appliance is no longer a member, and the reason: nothing may be answered, not even for a while. */
  over: { argument: z.object({ reason: z.string() }), answer: nothing },
  /** ForeignReport of cluster-way.ts; answered with whether the process that was told has put it on record. */
  foreignWrites: {
    argument: z.object({ first: z.int(), last: z.int(), records: z.int(), named: z.array(z.string()).readonly() }),
    answer: z.boolean(),
  },
} as const satisfies RequestTable;

const pem = z.string();
const certificates = z.object({ ca: pem, certificate: pem, key: pem });
const orders = z.object({
  /** path of the socket */
  socket: z.string(),
  /** of the store */
  directory: z.string(),
  id: z.string(),
  name: z.string(),
  version: z.string(),
  /** drawn at each start of the appliance */
  run: z.string(),
  /** the first one of a start: it checks that the replica has its last written content */
  examines: z.boolean().optional(),
  /** The file of LMDB's locks that the processes which serve have open; undefined: any. */
  storeLock: z.string().optional(),
  publicUrl: z.string(),
  endpoints: z.array(z.string()),
  tls: certificates.optional(),
  /** data directory of an appliance with its own member of etcd: the known state of the others is kept there */
  data: z.string().optional(),
  limits: z.object({ operations: z.int(), bytes: z.int() }),
  logs: z.object({ directory: z.string(), level: z.enum(['debug', 'info', 'warn', 'error']), maxFileBytes: z.int(), retainFiles: z.int() }),
});
export type FollowerOrders = z.output<typeof orders>;

/** Asked of the follower by the supervisor. */
export const followerOrders = {
  /** The first one. Answered when the shared store, if there is one, is here and followed, or with the reason why it cannot be. */
  begin: { argument: orders, answer: outcome },
  /** Uses renewed certificates from now on, if etcd takes them. */
  renew: { argument: certificates, answer: outcome },
  /** Says goodbye to the others and ends the process; never answered. */
  stop: { argument: nothing, answer: nothing },
} as const satisfies RequestTable;

export type FollowerHandlers = Handlers<typeof followerRequests>;
export type OrderHandlers = Handlers<typeof followerOrders>;
