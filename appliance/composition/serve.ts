// One serving process: composes what was opened, listens and runs jobs, and stops in reverse order.
import { setTimeout } from 'node:timers/promises';
import type { Audit } from '../../core/audit/record.ts';
import { type AuditTrail, openAuditTrail } from '../../core/audit/trail.ts';
import type { Configuration } from '../../core/config/config.ts';
import { bodyRoomThatFits } from '../../core/config/memory.ts';
import { describeFault } from '../../core/http/response/problem.ts';
import type { GoesOn } from '../../core/http/context/request-context.ts';
import { BodyRoom } from '../../core/http/request/body-room.ts';
import { type Listener, listenHttps, ListenError } from '../../core/http/listener/listeners.ts';
import { findJobHolder, startJobs } from '../../core/plugin/job-holder.ts';
import { Quotas } from '../../core/access/quotas.ts';
import { once } from '../../core/base/async/once.ts';
import { sharedFor } from '../../core/base/async/shared-for.ts';
import { provide } from '../../core/plugin/service.ts';
import { type ListenerName, type Listeners, listenersService } from '../../core/plugin/services/listeners.ts';
import { systemClock } from '../../core/base/time.ts';
import { auditPublicKeysPem, openAuditSigner } from '../audit/audit-signing.ts';
import { chainNames } from '../../core/audit/chains.ts';
import { recordedTime } from '../../core/audit/examine.ts';
import { Backups } from '../backup/run/backups.ts';
import { readBootTime, watchClock } from '../machine/clock-watch.ts';
import { compose } from './compose.ts';
import { hasOwnToken } from '../cluster/replication/taking-part.ts';
import type { Opened } from './opening.ts';
import { Membership } from '../cluster/membership/membership.ts';
import { ChangingIdentity } from '../tls/listener-identity.ts';
import type { SupervisorChannel } from '../processes/messages.ts';
import { ownPins } from '../tokens/own-pins.ts';
import { recordForeignWrites } from '../cluster/foreign-writes.ts';
import { watchHealth } from '../monitoring/health.ts';
import { paths } from '../data-directory/paths.ts';
import { measureProcess } from '../monitoring/metrics/process.ts';
import { publicUrlInUse, publicUrlWarnings } from '../cluster/public-url/public-url.ts';
import { type Serving, takeAt } from '../processes/serving.ts';
import { plugins } from '../plugins.ts';
import { openServingKeys } from '../tls/serving-key.ts';
import program from '../../package.json' with { type: 'json' };
import { shareUse } from '../monitoring/metrics/tenant-use.ts';
import { RequestGate } from '../processes/request-gate.ts';
import { sealedHandler } from '../seal/sealed-server.ts';
import { keepSealedIdentity, writeApplianceCa } from '../tls/sealed-identity.ts';
import { type ShippingWatch, watchShipping } from '../shipping/watch.ts';
import { StartRefused } from '../start-refused.ts';

const stopGraceMs = 10_000;
const unsealMs = 600_000;
/** Unauthenticated callers may ask for health as often as they like. */
const healthKeptMs = 500;
const healthWaitMs = 3_000;
/** How long the other workers may take to stop. */
const aloneMs = 11_000;
/** Time limits while sealing: for running requests, for counts, for the end of the audit trail, and for an HSM host to end. */
const lastRequestsMs = 200;
const lastWritesMs = 500;
const lastSignatureMs = 500;
const lastHostMs = 100;
/** Time for admitted requests, and for the answer to the seal request, before the audit trail is closed. */
const lastAnswersMs = 1_000;

/**
 * Serves with what was opened as worker `number`, and closes it in the end; number 1 also runs the background jobs and signs the heads of the audit trail, for the last time when
 * it is `alone`. Throws StartRefused; nothing stays open then.
 */
export async function serve(
  configuration: Configuration,
  number: number,
  channel: SupervisorChannel,
  parts: { readonly opened: Opened; readonly alone: Promise<void>; readonly ticketKeys: Buffer },
): Promise<Serving> {
  const { opened, alone, ticketKeys } = parts;
  const { log, runtime, tokens } = opened;
  const { data } = configuration;
  const { cluster } = runtime;
  const replica = cluster && {
    mayAnswer: (goesOn?: GoesOn): boolean =>
      cluster.isValid ||
      (runtime.store.isWhole && ((goesOn === 'use' && cluster.isIsolated) || (goesOn === 'view' && cluster.over === undefined))),
    untilSettled: () => runtime.store.untilSettled(),
  };
  const chain = chainNames(runtime.store.appliance).worker(number);
  const closing: (() => unknown)[] = [];
  /** stops everything beside the requests that uses keys or the store */
  const resting: (() => unknown)[] = [];
  const gate = new RequestGate();
  /** requests that wait for their own seal */
  let sealers = 0;
  let isServing = false;
  // Both listeners close at the same time: one after the other, slow clients would keep them for twice the grace.
  const retirement = Promise.withResolvers<void>();
  const stop = once(async () => {
    retirement.resolve();
    await Promise.all(resting.map((rest) => rest()));
    for (const close of closing.toReversed()) await close();
  });
  try {
    closing.push(() => log.close());
    closing.push(() => runtime.close());
    const inTrail = await recordedTime(paths.audit(data));
    const clockWatch = watchClock(runtime.store, systemClock, { othersMs: () => cluster?.othersMs, sinceBoot: readBootTime, inTrail });
    resting.push(() => clockWatch.stop());
    // After a restart of the machine, what has ended until now is known by this alone.
    const recordTime = (): Promise<void> => (number === 1 && isServing ? clockWatch.record().catch(() => undefined) : Promise.resolve());
    closing.push(recordTime);
    const { clock } = clockWatch;
    const quotas = new Quotas({ ...runtime, clock });
    const admit = (tenantId: string): void => quotas.admit(tenantId);
    resting.push(shareUse(quotas, (own) => channel.request('shareUse', own)));
    const metrics = measureProcess(runtime.hsm, quotas);
    resting.push(() => metrics.stop());
    const { signHead, memory } = openAuditSigner(runtime, data, log.with('audit'));
    const watch = await watchShipping({ data, ...configuration.shipping, clock, log: log.with('shipping') });
    resting.push(() => watch.stop());
    const trail = await openAuditTrail({
      directory: paths.audit(data),
      ...{ chain, clock, memory },
      storeRevision: () => runtime.store.committed,
      log: log.with('audit'),
      ...configuration.audit,
      ...(number === 1 ? { signHead } : {}),
      isHeld: (file) => watch.isHeld(file),
    });
    closing.push(() => trail.close());
    // The last signature covers the records that the other processes write until they end.
    if (number === 1) closing.push(() => (isServing ? Promise.race([alone, setTimeout(aloneMs)]) : undefined));
    const audit = metrics.measured(heldUpBy(trail, watch));
    if (number === 1) cluster?.onForeignWrites((report) => recordForeignWrites({ store: runtime.store, clock, audit }, report));
    const backups = new Backups({
      ...{ directory: data, store: runtime.store, hsm: runtime.hsm, clock, audit, log: log.with('backup') },
      config: configuration.backup,
      embedded: configuration.hsm.tokens.length === 0,
      appliance: configuration.hosts[0] ?? 'localhost',
      version: program.version,
      sign: signHead,
      auditKeys: () => auditPublicKeysPem(runtime.store),
    });
    resting.push(() => backups.stop());

    const keys = openServingKeys(configuration, tokens, number, { log: log.with('tls-key'), onEnd: endOfSigner });
    closing.push(() => keys.close());
    const identity = new ChangingIdentity(runtime.store, configuration, {
      load: (key) => keys.load(key),
      keyFault: () => keys.fault,
      onRenewed(renewed) {
        writeApplianceCa(data, renewed);
        if (configuration.attended) keepSealedIdentity(data, renewed.whileSealed);
      },
    });
    const open = new Map<ListenerName, Listener>();
    const listeners: Listeners = {
      serving: true,
      management: configuration.listen,
      est: configuration.estListen,
      hosts: configuration.hosts,
      get managementUrl() {
        return publicUrlInUse(runtime.store, configuration).url;
      },
      get isUrlGiven() {
        return publicUrlInUse(runtime.store, configuration).isGiven;
      },
      sealed: () => gate.isSealed,
      replica,
      admit,
      guard: (handler) => gate.guard(handler, handler),
      identity: () => identity.tls,
      ca: () => identity.current.caPem,
      onIdentityChange: (changed) => identity.watch(changed),
      onRetire: (retired) => void retirement.promise.then(retired),
      onAnswered: metrics.onAnswered,
      onOpen(name, listener) {
        open.set(name, listener);
        metrics.follow(name, listener.connections);
      },
    };
    const clusterWarnings = (): readonly string[] => publicUrlWarnings(runtime.store, configuration);
    if (number === 1 && cluster !== undefined) for (const one of clusterWarnings()) log.warn(one);
    const membership = new Membership({
      ...{ data, config: configuration.cluster, store: runtime.store, hsm: runtime.hsm, clock, ownUrl: configuration.ownUrl },
      authority: () => identity.current.caPem,
      cluster,
      ownToken: hasOwnToken(configuration) ? tokens[0] : undefined,
      log: log.with('cluster'),
      restartServer: () => channel.request('restartServer', undefined),
      requireReady: () => channel.request('requireReady', undefined),
      takePart: () => channel.request('takePart', undefined),
    });
    const composed = await compose({
      plugins: [...plugins, identity.plugin, membership.plugin],
      ...runtime,
      audit,
      log,
      clock,
      configurationOf: (plugin) => configuration.plugins[plugin],
      services: [provide(listenersService, listeners)],
      // A person who gives the PIN at every start has to know it.
      ownPins: ownPins(configuration.attended ? [] : tokens),
      sealed: () => gate.isSealed,
      replica,
      admit,
      bodyRoom: new BodyRoom({ octets: bodyRoomThatFits(configuration.workers) }),
      topics: { audit: paths.audit(data), logs: paths.logs(data) },
      system: {
        directory: data,
        tokens,
        // A job is given up after one timeout of waiting for a session and another one of running.
        settleMs: 2_000 * configuration.hsm.jobTimeoutSeconds,
        clockWatch,
        metrics,
        operationsSocket: configuration.operationsSocket,
        bootstrapFile: configuration.bootstrapFile,
        snapshots: () => channel.request('metrics', undefined),
        activity: () => channel.request('activity', undefined),
        workerReports: sharedFor(healthKeptMs, () => channel.request('health', undefined, healthWaitMs)),
        shipping: {
          ...{ data, clock, destinations: configuration.shipping.destinations },
          behind: () => watch.behind,
          live: () => channel.request('shipping', undefined),
          test: (destination) => channel.request('testShipping', { destination }),
        },
        async seal() {
          keepSealedIdentity(data, identity.current.whileSealed);
          sealers++;
          await channel.request('seal', undefined).finally(() => sealers--);
        },
        backups,
        cluster,
        membership,
        clusterWarnings,
        jobsLeader: () => findJobHolder(runtime.store),
      },
    });
    closing.push(() => composed.stop());
    const listener = await listenHttps({
      ...configuration.listen,
      identity: identity.tls,
      tls: { ticketKeys },
      handler: gate.guard(composed.app.handler, sealedHandler(configuration, channel)),
      takesList: composed.app.takesList,
      log: log.with('http'),
    });
    listeners.onOpen?.('management', listener);
    // A process that was just sealed answers an unseal request when the attempt has ended.
    void retirement.promise.then(() => listener.close(gate.isSealed ? unsealMs : stopGraceMs));
    closing.push(() => listener.close(stopGraceMs));
    closing.push(() => composed.app.endStreams());
    closing.push(identity.watch((next) => listener.setIdentity(next)));

    clockWatch.onSetBack(() => {
      identity.renewal
        .run(AbortSignal.abort())
        .catch((error: unknown) => log.warn('the listeners keep a certificate of the future', describeFault(error)));
    });
    const jobs = composed.jobs.filter(({ isOfEachProcess }) => number === 1 || isOfEachProcess === true);
    const scheduler = startJobs({ store: runtime.store, jobs, clock, log: log.with('jobs') });
    resting.push(() => scheduler.stop());
    if (number === 1) resting.push(watchHealth(composed.health.ofAll, log.with('health')));
    isServing = true;
    return {
      metrics: () => metrics.snapshot(),
      take: takeAt(open),
      health: composed.health.own,
      renewTicketKeys: (next) => listener.setTicketKeys(next),
      // The next to take LMDB's lock of writers tells the readers which commit a killed process made last, also without a change.
      showCommits: () => runtime.store.write(() => undefined),
      async seal() {
        gate.seal();
        identity.seal();
        composed.app.endStreams();
        for (const rest of resting) void rest();
        await gate.settled(sealers, lastRequestsMs);
        // As at a stop: counts are stored, and the last signature covers the records of the other processes. A seal waits for neither for long.
        await Promise.race([Promise.all([composed.settle(), recordTime()]), setTimeout(lastWritesMs)]);
        if (number === 1) await Promise.race([alone, setTimeout(lastRequestsMs + lastWritesMs + lastHostMs)]);
        await Promise.race([trail.close(), setTimeout(lastSignatureMs)]);
        await Promise.all([keys.close(lastHostMs), runtime.hsm.close(lastHostMs)]);
        await runtime.store.close();
      },
      async retire() {
        retirement.resolve();
        if (!gate.isSealed) return;
        await gate.settled(0, lastAnswersMs);
        await trail.close();
      },
      examine: async () => (gate.isSealed ? undefined : runtime.hsm.selfTest()),
      stop,
    };
  } catch (error) {
    await stop();
    if (error instanceof ListenError) throw new StartRefused(error.message);
    throw error;
  }
}

/** OpenSSL has lost its way to the keys for good: another worker takes over. */
function endOfSigner(reason: string): void {
  throw new Error(`TLS keys in the token: ${reason}`);
}

/** The trail, with the destination that holds up changes. */
function heldUpBy(trail: AuditTrail, watch: ShippingWatch): Audit {
  return {
    write: (record) => trail.write(record),
    get writable() {
      return trail.writable;
    },
    get problem() {
      return trail.problem;
    },
    get behind() {
      return watch.behind;
    },
  };
}
