// Every request between the supervisor and its workers, with its argument and its answer.
import type { ChildProcess } from 'node:child_process';
import type { Worker } from 'node:cluster';
import { z } from 'zod';
import { revealSecret, Secret } from '../../core/base/secret.ts';
import type { HsmErrorKind } from '../../hsm/api.ts';
import { listenerNames } from '../../core/plugin/services/listeners.ts';
import type { Snapshot } from '../monitoring/metrics/process.ts';
import { activity } from '../monitoring/metrics/activity.ts';
import { tenantUses } from '../monitoring/metrics/tenant-use.ts';
import type { Channel, Handlers, Port, RequestTable } from './channel.ts';

const nothing = z.void();
const hsmErrorKind = z.custom<HsmErrorKind>((value) => typeof value === 'string');
const snapshot = z.custom<Snapshot>((value) => Array.isArray(value));

const healthParts = z
  .array(z.object({ name: z.string(), state: z.string(), reason: z.string().optional(), hinders: z.literal(true).optional() }))
  .readonly();
/** WorkerReport of operations/health-of-workers.ts. */
const workerReport = z.object({
  worker: z.int(),
  parts: healthParts.optional(),
  fault: z.string().optional(),
  hangs: z.literal(true).optional(),
});

/** In clear only on the pipe between two processes of the appliance. */
const secretText = z.codec(
  z.string(),
  z.custom<Secret<string>>((value) => value instanceof Secret),
  { decode: (text) => new Secret(text), encode: (secret) => revealSecret(secret) },
);

/** GivenPins of state/hsm-config.ts. */
const givenPins = z.object({ pin: secretText.optional(), pins: z.record(z.string(), secretText).optional() });

/**
 * `sealed`: holds no key and waits for the PIN. `provisions`: worker 1 makes the missing parts and checks the audit trail before the others
 * begin. `pins`: given by a person, in place of the configured sources.
 */
const orders = z.object({ sealed: z.boolean(), provisions: z.boolean().optional(), pins: givenPins.optional() });
export type Orders = z.output<typeof orders>;

/** Progress of custodians/gathering.ts. */
const progress = z.object({ ceremony: z.string(), have: z.int(), needed: z.int() });

const unsealAttempt = givenPins.extend({
  /** of a custodian, in place of PINs */
  share: secretText.optional(),
  code: secretText.optional(),
  isOfAdministrator: z.boolean(),
  ...{ requestId: z.string(), clientIp: z.string(), userAgent: z.string() },
});
/** Report to the supervisor about a request to unseal. */
export type UnsealAttempt = z.output<typeof unsealAttempt>;

/** File descriptors of listening sockets, by the field of the configuration. */
const sockets = z.object({ listen: z.int().optional(), estListen: z.int().optional() });

/** Keys of TLS session tickets, 48 octets in hexadecimal: with the same ones, each worker resumes the sessions of all. */
const ticketKeys = z.string().regex(/^[0-9a-f]{96}$/);

/** The file that the supervisor holds for all its processes (state/watch/lock-file.ts). */
const lockFile = z.string().optional();

/** The file of LMDB's locks that other processes have open (core/store/files/store-files.ts); undefined: any. */
const storeLock = z.string().optional();

/** Serial numbers of tokens by name, as they were open. */
const serials = z.record(z.string(), z.string());

const listenerName = z.enum(listenerNames);

/** Asked by the supervisor. */
export const workerRequests = {
  /**
   * The first request, with the orders. Answered when the worker serves, or with the reason why it cannot; `hsm` is the kind of its
   * HsmError.
   */
  begin: {
    argument: orders.extend({ sockets, ticketKeys, lockFile, storeLock, serials }),
    answer: z.object({ refused: z.string().optional(), hsm: hsmErrorKind.optional(), serials: serials.optional() }),
  },
  /** New ones, in place of those that it began with. */
  renewTicketKeys: { argument: z.object({ ticketKeys }), answer: nothing },
  /** It holds another file: the one that it began with was removed or replaced. */
  renewLockFile: { argument: z.object({ lockFile }), answer: nothing },
  /** Another worker has ended: this one publishes the commits that it had not yet shown to the others. */
  showCommits: { argument: nothing, answer: nothing },
  /** Calls every token. `fault`: reason for which the worker cannot do its work now. */
  examine: { argument: nothing, answer: z.object({ fault: z.string().optional() }) },
  /** Counts of this process. */
  metrics: { argument: nothing, answer: snapshot },
  /**
   * With a connection, on which the supervisor then makes a handshake as a peer of the listener would. False where there is no such
   * listener at the moment.
   */
  take: { argument: z.object({ listener: listenerName }), answer: z.enum(['taken', 'none', 'dead']) },
  /** Number of handshakes that a listener has completed; undefined where there is no such listener at the moment. */
  handshakes: { argument: z.object({ listener: listenerName }), answer: z.int().optional() },
  /** The parts of the appliance as this process sees them; none while it is starting. */
  health: { argument: nothing, answer: healthParts.optional() },
  /** Answered when neither this process nor its HSM hosts hold a key. */
  seal: { argument: nothing, answer: nothing },
  /** No new connections; answered when another process may open the audit chain of this one. */
  retire: { argument: nothing, answer: nothing },
  /** All other workers have ended or are sealed: worker 1, which signs the audit heads for them, may do the same. */
  alone: { argument: nothing, answer: nothing },
  /** Lets running requests finish and ends the process; never answered. */
  stop: { argument: nothing, answer: nothing },
} as const satisfies RequestTable;

/** State of a destination that only the shipper knows. LiveState of shipping/pipeline.ts. */
const liveState = z.object({
  name: z.string(),
  connectedSince: z.string().exactOptional(),
  lastError: z.object({ occurredAt: z.string(), message: z.string() }).exactOptional(),
});

/** A test event: whether the receiver took it, and its answer. TestResult of shipping/test-event.ts. */
const testResult = z.object({ id: z.string(), accepted: z.boolean(), answer: z.string(), milliseconds: z.number() });

/** Asked by the supervisor of the process that ships the audit trail and the logs. */
export const shipperRequests = {
  state: { argument: nothing, answer: z.array(liveState) },
  /** Sends a marked record over a connection of its own. Refused with not-found. */
  test: { argument: z.object({ destination: z.string() }), answer: testResult },
  /** Confirms sent records and ends the process; never answered. */
  stop: { argument: nothing, answer: nothing },
} as const satisfies RequestTable;

/** The shipper asks nothing. */
export const nothingAsked = {} as const satisfies RequestTable;

/** Asked by a worker. */
export const supervisorRequests = {
  /** Worker 1 has made the missing parts. `announcement`: message to the user after a first start. */
  provisioned: { argument: z.object({ announcement: z.string().optional() }), answer: nothing },
  /** Snapshots of all workers. */
  metrics: { argument: nothing, answer: z.array(snapshot) },
  /** Activity of all workers in the last hour. */
  activity: { argument: nothing, answer: activity },
  /** Use by tenants with quotas: the sums of this process, answered with those of all others. */
  shareUse: { argument: tenantUses, answer: tenantUses },
  /** Reports of each worker about the parts of the appliance. */
  health: { argument: nothing, answer: z.array(workerReport) },
  /** Answered when no process holds a key. */
  seal: { argument: nothing, answer: nothing },
  /** Tries the PINs once. Refused with the errors of its endpoint (operations/system-endpoints.ts). */
  unseal: { argument: unsealAttempt, answer: progress.optional() },
  /** Progress of the custodians; undefined without them. */
  custodians: { argument: nothing, answer: progress.optional() },
  /** Refused with conflict while workers start: all of them are replaced by takePart. */
  requireReady: { argument: nothing, answer: nothing },
  /** This appliance is in a cluster now. Answered before all processes are replaced. */
  takePart: { argument: nothing, answer: nothing },
  /** Ends the own member of etcd and starts it again. */
  restartServer: { argument: nothing, answer: nothing },
  /** State of each destination, from the shipper; no entries while it is being started again. */
  shipping: shipperRequests.state,
  /** A test event to a destination. Refused with not-found and shipper-unavailable. */
  testShipping: shipperRequests.test,
} as const satisfies RequestTable;

export type WorkerChannel = Channel<typeof workerRequests>;
export type SupervisorChannel = Channel<typeof supervisorRequests>;
export type WorkerHandlers = Handlers<typeof workerRequests>;
export type ShipperHandlers = Handlers<typeof shipperRequests>;
export type SupervisorHandlers = Handlers<typeof supervisorRequests>;

/** The supervisor's end of the pipe to a worker or another child. */
export function workerPort(worker: Worker | ChildProcess): Port {
  return {
    isOpen: () => ('isConnected' in worker ? worker.isConnected() : worker.connected),
    send: (message, connection) => void worker.send(message, connection),
    onMessage: (hear) => void worker.on('message', (message: unknown, sent?: unknown) => hear(message, sent)),
    onEnd: (ended) => void worker.once('exit', ended),
  };
}

/** A worker's end of the pipe to its supervisor. */
export const supervisorPort: Port = {
  isOpen: () => process.connected,
  send: (message) => void process.send?.(message),
  onMessage: (hear) => void process.on('message', (message: unknown, sent?: unknown) => hear(message, sent)),
  onEnd: (ended) => void process.once('disconnect', ended),
};
