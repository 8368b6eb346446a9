// One serving process, in stages: it records, prepares its listeners, composes the plugins, listens and runs jobs. The parts that each
// stage opens are closed in the reverse order.
import { setTimeout } from 'node:timers/promises';
import { bodyRoomThatFits } from '../../core/config/memory.ts';
import { describeFault } from '../../core/http/response/problem.ts';
import { BodyRoom } from '../../core/http/request/body-room.ts';
import { type Listener, ListenError } from '../../core/http/listener/listeners.ts';
import { findJobHolder, startJobs } from '../../core/plugin/job-holder.ts';
import { once } from '../../core/base/async/once.ts';
import { sharedFor } from '../../core/base/async/shared-for.ts';
import { provide } from '../../core/plugin/service.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { Membership } from '../cluster/membership/membership.ts';
import { publicUrlWarnings } from '../cluster/public-url/public-url.ts';
import { hasOwnToken } from '../cluster/replication/taking-part.ts';
import { paths } from '../data-directory/paths.ts';
import { watchHealth } from '../monitoring/health.ts';
import { plugins } from '../plugins.ts';
import { RequestGate } from '../processes/request-gate.ts';
import { type Serving, takeAt } from '../processes/serving.ts';
import { StartRefused } from '../start-refused.ts';
import { tableKinds } from '../table-kinds.ts';
import { keepSealedIdentity } from '../tls/sealed-identity.ts';
import { ownPins } from '../tokens/own-pins.ts';
import { pinOrigin } from '../custodians/pin-origin.ts';
import { Closing } from './closing.ts';
import { compose, type Composed, type Parts } from './compose.ts';
import { listen, type Listening, prepareListeners } from './listening.ts';
import type { Opened } from './opening.ts';
import { openRecording, type Recording } from './recording.ts';
import type { ServingWorker } from './serving-worker.ts';

/** Unauthenticated callers may ask for health as often as they like. */
const healthKeptMs = 500;
const healthWaitMs = 3_000;
/** Time limits while sealing: for running requests, for counts, for the end of the audit trail, and for an HSM host to end. */
const lastRequestsMs = 200;
const lastWritesMs = 500;
const lastSignatureMs = 500;
const lastHostMs = 100;
/** Time for admitted requests, and for the answer to the seal request, before the audit trail is closed. */
const lastAnswersMs = 1_000;

type Started = Pick<ServingWorker, 'configuration' | 'number' | 'channel' | 'alone'> & {
  readonly opened: Opened;
  readonly ticketKeys: Buffer;
};

/** Serves with the opened parts, and closes them in the end. Throws StartRefused; nothing stays open then. */
export async function serve({ opened, ticketKeys, ...started }: Started): Promise<Serving> {
  const { log, runtime } = opened;
  const closing = new Closing();
  const worker: ServingWorker = {
    ...{ ...started, ...opened, closing, gate: new RequestGate(), retirement: Promise.withResolvers() },
    ...{ isServing: false, sealers: 0 },
  };
  const stop = once(() => {
    worker.retirement.resolve();
    return closing.close();
  });
  try {
    closing.onClose(() => log.close());
    closing.onClose(() => runtime.close());
    const recording = await openRecording(worker);
    const listening = prepareListeners(worker, recording);
    if (worker.number === 1 && runtime.cluster !== undefined)
      for (const one of publicUrlWarnings(runtime.store, worker.configuration)) log.warn(one);
    const composed = await composeWorker(worker, recording, listening);
    const listener = await listen(worker, listening, composed, ticketKeys);
    startWork(worker, recording, listening, composed);
    worker.isServing = true;
    return { ...servingOf(worker, { recording, listening, composed, listener }), stop };
  } catch (error) {
    await stop();
    if (error instanceof ListenError) throw new StartRefused(error.message);
    throw error;
  }
}

async function composeWorker(worker: ServingWorker, recording: Recording, listening: Listening): Promise<Composed> {
  const { configuration, log, runtime, configured, closing, gate } = worker;
  const { audit, clockWatch, admit } = recording;
  const { identity, listeners, replica } = listening;
  const membership = membershipOf(worker, recording, listening);
  const composed = await compose({
    plugins: [...plugins, identity.plugin, membership.plugin],
    ...runtime,
    ...{ audit, log, clock: clockWatch.clock, replica, admit },
    configurationOf: (plugin) => configuration.plugins[plugin],
    services: [provide(listenersService, listeners)],
    // A person who gives the PIN at every start has to know it. One who has unsealed leaves the file in its place.
    ownPins: ownPins(configuration.attended ? [] : configured),
    sealed: () => gate.isSealed,
    bodyRoom: new BodyRoom({ octets: bodyRoomThatFits(configuration.workers) }),
    topics: { audit: paths.audit(configuration.data), logs: paths.logs(configuration.data) },
    system: { ...systemOf(worker, recording, listening), membership },
  });
  closing.onClose(() => composed.stop());
  return composed;
}

function systemOf(
  worker: ServingWorker,
  { clockWatch, metrics, watch, backups, drills }: Recording,
  { identity }: Listening,
): Omit<NonNullable<Parts['system']>, 'membership'> {
  const { configuration, channel, runtime, tokens } = worker;
  const { data, operationsSocket, bootstrapFile } = configuration;
  return {
    ...{ directory: data, tokens, clockWatch, metrics, backups, drills, operationsSocket, bootstrapFile, cluster: runtime.cluster },
    // A job is given up after one timeout of waiting for a session and another one of running.
    settleMs: 2_000 * configuration.hsm.jobTimeoutSeconds,
    snapshots: () => channel.request('metrics', undefined),
    activity: () => channel.request('activity', undefined),
    workerReports: sharedFor(healthKeptMs, () => channel.request('health', undefined, healthWaitMs)),
    shipping: {
      ...{ data, clock: clockWatch.clock, destinations: configuration.shipping.destinations },
      behind: () => watch.behind,
      live: () => channel.request('shipping', undefined),
      test: (destination) => channel.request('testShipping', { destination }),
    },
    notices: configuration.notices,
    pinOrigin: () => pinOrigin(configuration),
    async seal() {
      keepSealedIdentity(data, identity.current.whileSealed);
      worker.sealers++;
      await channel.request('seal', undefined).finally(() => worker.sealers--);
    },
    clusterWarnings: () => publicUrlWarnings(runtime.store, configuration),
    jobsLeader: () => findJobHolder(runtime.store),
  };
}

function membershipOf(
  { configuration, channel, log, runtime, tokens }: ServingWorker,
  { clockWatch: { clock } }: Recording,
  { identity }: Listening,
): Membership {
  const { store, hsm, cluster } = runtime;
  return new Membership({
    ...{
      data: configuration.data,
      config: configuration.cluster,
      store,
      hsm,
      clock,
      ownUrl: configuration.ownUrl,
      cluster,
      kinds: tableKinds,
    },
    authority: () => identity.current.caPem,
    ownToken: hasOwnToken(configuration) ? tokens[0] : undefined,
    log: log.with('cluster'),
    restartServer: () => channel.request('restartServer', undefined),
    requireReady: () => channel.request('requireReady', undefined),
    takePart: () => channel.request('takePart', undefined),
  });
}

/** Starts the jobs of this process, and the alarms where it is the first. */
function startWork(
  { number, log, runtime: { store }, closing }: ServingWorker,
  { clockWatch }: Recording,
  { identity }: Listening,
  { jobs, health }: Composed,
): void {
  const { clock } = clockWatch;
  clockWatch.onSetBack(() => {
    identity.renewal
      .run(AbortSignal.abort())
      .catch((error: unknown) => log.warn('the listeners keep a certificate of the future', describeFault(error)));
  });
  const own = jobs.filter(({ isOfEachProcess }) => number === 1 || isOfEachProcess === true);
  const scheduler = startJobs({ store, jobs: own, clock, log: log.with('jobs') });
  closing.onRest(() => scheduler.stop());
  if (number === 1) closing.onRest(watchHealth(health.ofAll, log.with('health')));
}

type Stages = {
  readonly recording: Recording;
  readonly listening: Listening;
  readonly composed: Composed;
  readonly listener: Listener;
};

function servingOf(worker: ServingWorker, stages: Stages): Omit<Serving, 'stop'> {
  const { runtime, gate, retirement } = worker;
  const { recording, listening, composed, listener } = stages;
  return {
    metrics: () => recording.metrics.snapshot(),
    take: takeAt(listening.open),
    handshakes: (name) => listening.open.get(name)?.handshakes,
    health: composed.health.own,
    renewTicketKeys: (next) => listener.setTicketKeys(next),
    // The next to take LMDB's lock of writers tells the readers which commit a killed process made last, also without a change.
    showCommits: () => runtime.store.write(() => undefined),
    seal: () => seal(worker, stages),
    async retire() {
      retirement.resolve();
      if (!gate.isSealed) return;
      await gate.settled(0, lastAnswersMs);
      await recording.trail.close();
    },
    examine: async () => (gate.isSealed ? undefined : runtime.hsm.selfTest()),
  };
}

async function seal({ number, runtime, alone, closing, gate, sealers }: ServingWorker, stages: Stages): Promise<void> {
  const { recording, listening, composed } = stages;
  gate.seal();
  listening.identity.seal();
  composed.app.endStreams();
  void closing.rest();
  await gate.settled(sealers, lastRequestsMs);
  // As at a stop: counts are stored, and the last signature covers the records of the other processes. A seal waits for neither for long.
  await Promise.race([Promise.all([composed.settle(), recording.recordTime()]), setTimeout(lastWritesMs)]);
  if (number === 1) await Promise.race([alone, setTimeout(lastRequestsMs + lastWritesMs + lastHostMs)]);
  await Promise.race([recording.trail.close(), setTimeout(lastSignatureMs)]);
  await Promise.all([listening.keys.close(lastHostMs), runtime.hsm.close(lastHostMs)]);
  await runtime.store.close();
}
