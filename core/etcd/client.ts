// Calls to etcd: each with a deadline, to one member at a time; one watch as a stream of messages.
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { fileURLToPath } from 'node:url';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  logVerbosity,
  Metadata,
  type ServiceError as GrpcError,
  setLogVerbosity,
  type VerifyOptions,
} from '@grpc/grpc-js';
import { loadSync, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import { hostOf } from '../base/addresses.ts';
import { Endpoints } from './endpoints.ts';
import {
  alarm,
  type AlarmRequest,
  type AlarmsAnswer,
  type EtcdServer,
  type KeyRange,
  type MembersAnswer,
  type RangeAnswer,
  type RangeRequest,
  type StatusAnswer,
  type TxnAnswer,
  type TxnRequest,
  type WatchAnswer,
  type WatchRequest,
} from './messages.ts';
import { EtcdError } from './outcome.ts';
import { status } from './status.ts';

export type EtcdOptions = {
  /** `https://host:port`, in order of preference; `http:` for tests only */
  readonly endpoints: readonly string[];
  /** PEM: the authorities of the members, and our certificate with its key */
  readonly tls?: { readonly ca: Buffer; readonly certificate: Buffer; readonly key: Buffer };
  readonly nowMs: () => number;
};

/** A running watch. */
export type Watching = {
  /** Requests a message with the progress of the watch. */
  requestProgress(): void;
  cancel(): void;
};

type WatchParts = {
  readonly range: KeyRange;
  readonly startRevision: number;
  readonly onAnswer: (answer: WatchAnswer) => void;
  /** called once, also after cancel */
  readonly onEnd: (error: EtcdError) => void;
};

/** Time for which a failed member is not preferred. */
const forgivenMs = 5_000;
/** Deadline of a call. A call sent before an election hangs until its deadline; a short one and a second try end the pause sooner. */
const defaultDeadlineMs = 1_000;

/** Deadline for changes of the servers, which wait until the present ones are connected. */
const changeDeadlineMs = 5_000;

/** Deadline of a defragmentation, which takes seconds for each GiB. */
const defragmentDeadlineMs = 120_000;

/** Deadline for pages of 1,000 records. */
export const loadDeadlineMs = 10_000;

const channelOptions = {
  'grpc.keepalive_time_ms': 2_000,
  'grpc.keepalive_timeout_ms': 1_000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  // The default is up to two minutes.
  'grpc.max_reconnect_backoff_ms': 1_000,
  // A watch that catches up gets a thousand revisions at once; more than the default of 4 MiB would break it at every try.
  'grpc.max_receive_message_length': 64 << 20,
  'grpc.max_send_message_length': 16 << 20,
  // A transaction that is sent twice can conflict with itself.
  'grpc.enable_retries': 0,
};

// Its warnings would go to standard error beside our log; their causes reach us as errors.
setLogVerbosity(logVerbosity.NONE);

const definitions = loadSync('rpc.proto', {
  includeDirs: [fileURLToPath(new URL('./proto', import.meta.url))],
  ...{ longs: String, enums: Number, keepCase: true, defaults: true, bytes: Buffer },
});

const calls = {
  range: methodOf<RangeRequest, RangeAnswer>('etcdserverpb.KV', 'Range'),
  txn: methodOf<TxnRequest, TxnAnswer>('etcdserverpb.KV', 'Txn'),
  compact: methodOf<{ readonly revision: number }, unknown>('etcdserverpb.KV', 'Compact'),
  status: methodOf<Record<string, never>, StatusAnswer>('etcdserverpb.Maintenance', 'Status'),
  alarm: methodOf<AlarmRequest, AlarmsAnswer>('etcdserverpb.Maintenance', 'Alarm'),
  defragment: methodOf<Record<string, never>, unknown>('etcdserverpb.Maintenance', 'Defragment'),
  watch: methodOf<WatchRequest, WatchAnswer>('etcdserverpb.Watch', 'Watch'),
  memberAdd: methodOf<Pick<EtcdServer, 'peerURLs' | 'isLearner'>, MembersAnswer & { readonly member: EtcdServer }>(
    'etcdserverpb.Cluster',
    'MemberAdd',
  ),
  memberRemove: methodOf<Pick<EtcdServer, 'ID'>, MembersAnswer>('etcdserverpb.Cluster', 'MemberRemove'),
  memberList: methodOf<{ readonly linearizable: boolean }, MembersAnswer>('etcdserverpb.Cluster', 'MemberList'),
  memberPromote: methodOf<Pick<EtcdServer, 'ID'>, MembersAnswer>('etcdserverpb.Cluster', 'MemberPromote'),
};

export class EtcdClient {
  #channels: ReadonlyMap<string, Client>;
  #endpoints: Endpoints<string>;
  readonly #nowMs: () => number;
  readonly #watching = new Set<Watching>();

  constructor({ endpoints, tls, nowMs }: EtcdOptions) {
    this.#channels = channelsTo(endpoints, tls);
    this.#endpoints = new Endpoints(endpoints, nowMs);
    this.#nowMs = nowMs;
  }

  /**
   * Uses a renewed certificate, and other endpoints if given, for all calls from now on; a watch ends, so that it is opened again
   * with them. Throws when key and certificate do not belong together; then nothing has changed.
   */
  renew(tls: EtcdOptions['tls'], endpoints: readonly string[] = this.endpoints): void {
    const former = this.#channels;
    this.#channels = channelsTo(endpoints, tls);
    this.#endpoints = new Endpoints(endpoints, this.#nowMs);
    for (const watching of this.#watching) watching.cancel();
    // Calls that are on their way end first.
    setTimeout(() => closeAll(former), loadDeadlineMs).unref();
  }

  get endpoints(): readonly string[] {
    return [...this.#channels.keys()];
  }

  /** Sends a transaction once. Rejects with EtcdError, which tells whether it may have been committed. */
  txn(request: TxnRequest, deadlineMs = defaultDeadlineMs): Promise<TxnAnswer> {
    return this.#once(calls.txn, request, deadlineMs);
  }

  /** Sends a transaction that writes nothing. Tried at every member. */
  readTxn(request: TxnRequest, deadlineMs = defaultDeadlineMs): Promise<TxnAnswer> {
    return this.#anywhere(calls.txn, request, deadlineMs);
  }

  /** As readTxn, at one member. */
  readTxnAt(endpoint: string, request: TxnRequest, deadlineMs: number): Promise<TxnAnswer> {
    return this.#ask(endpoint, calls.txn, request, deadlineMs);
  }

  /** Reads a range, linearizable unless the request says otherwise. Tried at every member. */
  range(request: RangeRequest, deadlineMs = defaultDeadlineMs): Promise<RangeAnswer> {
    return this.#anywhere(calls.range, request, deadlineMs);
  }

  /** Removes the history before a revision; a watch can still begin there. */
  async compact(revision: number, deadlineMs = loadDeadlineMs): Promise<void> {
    await this.#once(calls.compact, { revision }, deadlineMs);
  }

  /** Lists the servers of etcd as the majority knows them. */
  async listMembers(deadlineMs = defaultDeadlineMs): Promise<readonly EtcdServer[]> {
    return (await this.#anywhere(calls.memberList, { linearizable: true }, deadlineMs)).members;
  }

  /** Lists the servers as the first answering member knows them, possibly without the last change. Rejects if none answers. */
  async knownMembers(deadlineMs = defaultDeadlineMs): Promise<readonly EtcdServer[]> {
    const asked = this.endpoints.map((endpoint) => this.#ask(endpoint, calls.memberList, { linearizable: false }, deadlineMs));
    return (await Promise.any(asked)).members;
  }

  /** Adds a server as a learner, which is filled from the others. Refused while another learner exists. */
  async addLearner(peerUrl: string): Promise<EtcdServer> {
    return (await this.#once(calls.memberAdd, { peerURLs: [peerUrl], isLearner: true }, changeDeadlineMs)).member;
  }

  /** Makes a filled learner count for the majority. Refused until it is in step with the others. */
  async promote(id: string): Promise<void> {
    await this.#once(calls.memberPromote, { ID: id }, changeDeadlineMs);
  }

  async removeServer(id: string): Promise<void> {
    await this.#once(calls.memberRemove, { ID: id }, changeDeadlineMs);
  }

  /** Status of one member, which answers without the others. */
  status(endpoint: string, deadlineMs = defaultDeadlineMs): Promise<StatusAnswer> {
    return this.#ask(endpoint, calls.status, {}, deadlineMs);
  }

  /** Shrinks the file of one member to its contents. The member does not answer meanwhile. */
  async defragment(endpoint: string): Promise<void> {
    await this.#ask(endpoint, calls.defragment, {}, defragmentDeadlineMs);
  }

  /** Ends the alarm of a full quota, so that changes are accepted again. It is raised again if there is no room. */
  async endNoSpaceAlarms(): Promise<void> {
    const all = await this.#anywhere(calls.alarm, { action: alarm.get, memberID: '0', alarm: alarm.none }, changeDeadlineMs);
    for (const { memberID, alarm: raised } of all.alarms) {
      if (raised !== alarm.noSpace) continue;
      await this.#once(calls.alarm, { action: alarm.end, memberID, alarm: raised }, changeDeadlineMs);
    }
  }

  /** Starts a watch at the best member. It ends when that member knows no leader, because it would only be silent. */
  watch({ range, startRevision, onAnswer, onEnd }: WatchParts): Watching {
    const endpoints = this.#endpoints;
    const endpoint = endpoints.best(forgivenMs);
    const metadata = new Metadata();
    metadata.set('hasleader', 'true');
    const { path, requestSerialize, responseDeserialize } = calls.watch;
    const stream: ClientDuplexStream<WatchRequest, WatchAnswer> = this.#channelOf(endpoint).makeBidiStreamRequest(
      ...([path, requestSerialize, responseDeserialize] as const),
      metadata,
    );
    let hasEnded = false;
    const watching: Watching = {
      requestProgress: () => void (hasEnded || stream.write({ progress_request: {} })),
      cancel: () => stream.cancel(),
    };
    this.#watching.add(watching);
    const ended = (error: EtcdError): void => {
      if (hasEnded) return;
      hasEnded = true;
      this.#watching.delete(watching);
      if (error.code !== status.CANCELLED) endpoints.failed(endpoint);
      onEnd(error);
    };
    stream.on('data', (answer: WatchAnswer) => {
      if (!hasEnded) onAnswer(answer);
    });
    stream.on('error', (error: GrpcError) => ended(new EtcdError(error.code, error.details)));
    stream.on('end', () => ended(new EtcdError(status.UNAVAILABLE, 'the watch has ended')));
    stream.write({ create_request: { ...range, start_revision: startRevision, progress_notify: true, fragment: true } });
    return watching;
  }

  close(): void {
    closeAll(this.#channels);
  }

  async #anywhere<Asked, Answered>(call: Call<Asked, Answered>, request: Asked, deadlineMs: number): Promise<Answered> {
    for (let left = this.#channels.size; ; left--) {
      try {
        return await this.#once(call, request, deadlineMs);
      } catch (error) {
        if (left <= 1 || !(error instanceof EtcdError) || error.isRefused) throw error;
      }
    }
  }

  async #once<Asked, Answered>(call: Call<Asked, Answered>, request: Asked, deadlineMs: number): Promise<Answered> {
    const endpoints = this.#endpoints;
    const endpoint = endpoints.best(forgivenMs);
    try {
      const answer = await this.#ask(endpoint, call, request, deadlineMs);
      endpoints.worked(endpoint);
      return answer;
    } catch (error) {
      if (!(error instanceof EtcdError && error.isRefused)) endpoints.failed(endpoint);
      throw error;
    }
  }

  #ask<Asked, Answered>(endpoint: string, call: Call<Asked, Answered>, request: Asked, deadlineMs: number): Promise<Answered> {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    this.#channelOf(endpoint).makeUnaryRequest(
      ...([call.path, call.requestSerialize, call.responseDeserialize, request] as const),
      { deadline: Date.now() + deadlineMs },
      (error, answer) => {
        if (error !== null) reject(new EtcdError(error.code, error.details));
        else if (answer === undefined) reject(new EtcdError(status.INTERNAL, 'an answer without a message'));
        else resolve(answer);
      },
    );
    return promise;
  }

  #channelOf(endpoint: string): Client {
    const channel = this.#channels.get(endpoint);
    if (channel === undefined) throw new TypeError(`${endpoint} is not one of the endpoints`);
    return channel;
  }
}

type Call<Asked, Answered> = Pick<MethodDefinition<object, object>, 'path'> & {
  readonly requestSerialize: (request: Asked) => Buffer;
  readonly responseDeserialize: (octets: Buffer) => Answered;
};

/** The types of the messages are those of messages.ts, which follow the proto files. */
function methodOf<Asked, Answered>(service: string, name: string): Call<Asked, Answered> {
  const method = (definitions[service] as ServiceDefinition | undefined)?.[name];
  if (method === undefined) throw new TypeError(`the proto files have no ${service}/${name}`);
  return method as unknown as Call<Asked, Answered>;
}

function channelsTo(urls: readonly string[], tls: EtcdOptions['tls']): ReadonlyMap<string, Client> {
  return new Map(urls.map((url) => [url, channelTo(new URL(url), tls)]));
}

function closeAll(channels: ReadonlyMap<string, Client>): void {
  for (const channel of channels.values()) channel.close();
}

/**
 * Opens a channel. The certificate of a server is for the host of its URL, also if that is an IP address: Node.js refuses an address as a
 * server name (RFC 6066 section 3), so grpc-js is given another name, and the address is compared here.
 */
function channelTo(url: URL, tls: EtcdOptions['tls']): Client {
  const { protocol, host } = url;
  if (protocol === 'http:') return new Client(host, credentials.createInsecure(), channelOptions);
  if (tls === undefined) throw new TypeError(`etcd at ${host} needs a certificate`);
  const address = hostOf(url);
  const secure = (options: VerifyOptions): ChannelCredentials => credentials.createSsl(tls.ca, tls.key, tls.certificate, options);
  if (isIP(address) === 0) return new Client(host, secure({}), channelOptions);
  const checked = secure({ checkServerIdentity: (_, certificate) => checkServerIdentity(address, certificate) });
  return new Client(host, checked, { ...channelOptions, 'grpc.ssl_target_name_override': 'etcd.invalid' });
}
